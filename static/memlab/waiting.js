// Ask again in two seconds; the page says that it goes on by itself.
setTimeout(() => location.reload(), 2000);
