"""What `make run` starts: database, migrations, demo, web server and task cluster."""
