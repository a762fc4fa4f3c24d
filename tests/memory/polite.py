"""What polite people say, in both languages; nothing of it attacks or hurts anybody."""

from __future__ import annotations

POLITE = (
    "Good morning! How are you today?",
    "Could you please tell me a little about spring flowers?",
    "Thank you, that was helpful.",
    "That makes sense, thanks for explaining.",
    "I cooked noodles for lunch today.",
    "Would you mind if we talked about music for a while?",
    "I went for a walk in the park after work.",
    "What would you suggest for a quiet evening?",
    "I see what you mean, and I agree.",
    "Have a nice day, talk to you soon!",
    "早上好！你今天怎么样？",
    "可以请你介绍一下春天的花吗？",
    "谢谢你，很有帮助。",
    "原来如此，多谢你的解释。",
    "我今天中午做了面条。",
    "我们聊聊音乐好吗？",
    "下班以后我去公园散了散步。",
    "安静的晚上你有什么建议？",
    "我明白你的意思，我也这么想。",
    "祝你愉快，下次再聊！",
)
