"""Strings that tokenizers get wrong: marks, normal forms, white space, line ends, added tokens inside text, long runs."""

import random

PLAIN = (
    "", " ", "  ", "\n", "\n\n", "\t", "\r\n", " \n ", "a", " a", "a ", "  a  ", "Hello, world!", "hello world",
    "What is the capital of France?", "The capital of France is Paris.", "don't can't I'll we've she'd they're I'm",
    "DON'T CAN'T I'LL WE'VE", "it's it'S It’s", "'s", "''s", " 's", "'tis the season", "o'clock", "rock'n'roll",
    "1", "12", "123", "1234567890", "3.14159", "1,000,000", "1e-6", "0x1F", "1st 2nd 3rd", "½ ⅓ ²³ ₂", "٠١٢٣", "१२३", "Ⅷ",
    "!", "!!", "!?!?", "...", "…", "a.b.c", "a,b;c:d", "(a)[b]{c}<d>", "-- --- ----", "\\ \\\\ /", "#!@$%^&*()_+", "\"quoted\"",
    "« guillemets »", "„deutsch“", "‘single’ “double”", "a—b–c-d", "100%", "$5.00 €6 ¥7 £8", "C++ C# F#", "user@example.org",
    "https://example.org/a/b?c=d&e=%20f#g", "path/to/file.txt", "C:\\Windows\\System32", "snake_case camelCase kebab-case",
)
WHITE_SPACE = (
    "a  b", "a   b", "a    b     c", "  leading", "trailing  ", "\ttab", "a\tb", "a\t\tb", "\t \t", " \t", "a \n b", "a\n\nb",
    "a\n\n\nb", "a\r\nb", "a\rb", "a\n  b", "a  \n  b", "\n\n  \n\n", "line one\nline two\n", "\n leading newline",
    "a\u00a0b", "a\u2003b", "a\u200bb", "a\u3000b", "\ufeffbom", "a\u2028b", "a\x0bb\x0cc", "a\u0085b", " \u00a0 ", "x\n\t\ty",
)
CODE = (
    "def f(x):\n    return x + 1\n", "if (a && b) {\n\treturn !c;\n}\n", "for (int i = 0; i < 10; ++i) { sum += i; }",
    "SELECT * FROM t WHERE a='b' -- c", "{\"key\": [1, 2.5, null, true], \"s\": \"\\u00e9\"}", "<a href=\"x\">y &amp; z</a>",
    "x = y if z else w  # comment", "    \n        deep\n", "kubectl wait --for=condition=Ready llm/demo", "a==b!=c<=d>=e=>f->g::h",
    "```python\nprint('hi')\n```", "| a | b |\n|---|---|\n| 1 | 2 |", "$ make demo && echo \"ok\"", "\\frac{a}{b} \\alpha_{i}^{2}",
    "0b1010_1010", "lambda x: x**2", "#include <stdio.h>\n\nint main(void) { return 0; }\n",
)
SCRIPTS = (
    "你好，世界！", "法国的首都是巴黎。", "日本語のテキスト", "ひらがなカタカナ漢字", "한국어 텍스트", "Привет, мир!", "Γειά σου Κόσμε",
    "مرحبا بالعالم", "שלום עולם", "नमस्ते दुनिया", "สวัสดีชาวโลก", "வணக்கம்", "ສະບາຍດີ", "გამარჯობა", "Բարեւ", "ሰላም", "ᚠᛇᚻ", "𐍈𐌰",
    "Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "Árvíztűrő tükörfúrógép", "ñandú ÑANDÚ", "straße STRASSE", "İstanbul ıi", "Đà Nẵng",
    "mixed 中文 and English 混合", "ａｂｃ１２３", "ﬁ ligature ﬃ", "Ω Ω", "µ μ", "Å Å Å", "é e\u0301", "ñ n\u0303", "한 \u1112\u1161\u11ab",
    "a\u0301\u0302\u0303b", "\u0301start", "ก็", "क्षत्रिय", "क\u093c \u0958", "אָלֶף", "ё е\u0308",
)
EMOJI = (
    "🙂", "🙂🙃", "a🙂b", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇫🇷🇩🇪", "❤️", "☃", "1️⃣", "✔︎", "🧑🏿‍🚀 to the 🌕!", "∀x∈ℝ: x²≥0", "→ ⇒ ↔", "■□▲△", "♔♕♖",
    "𝒜𝓑𝕮", "🀄", "\U0001f9ff", "\ufffd", "\U0010ffff", "\ue000", "\u0000", "a\u0000b", "\u001b[31mred\u001b[0m", "\u007f",
)
ADDED = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<|im_start|>user\nhi<|im_end|>\n",
    "<|im_start|>assistant\n<think>\n\n</think>\n\n", "a<|im_end|>b", "a <|im_end|> b", "<|im_end|><|im_end|>", "<|im_start|><think>",
    "<|im_start", "im_end|>", "<|im_ end|>", "<|IM_END|>", "< think >", "<think", "<think>>", "<<think>", "<think>thought</think>answer",
    " <think> ", "\n</think>\n\n", "<|endoftext|>text", "text<|endoftext|>", "<|unknown|>", "e\u0301<|im_end|>e\u0301",
)


def random_strings(count: int, seed: int) -> list[str]:
    """Mixtures of pieces from all groups, and random code points of all planes (no surrogates)."""
    rng = random.Random(seed)
    pieces = [*PLAIN, *WHITE_SPACE, *CODE, *SCRIPTS, *EMOJI, *ADDED]
    mixed = ["".join(rng.choices(pieces, k=rng.randint(2, 5))) for _ in range(count // 2)]
    limits = (0x7F, 0x24F, 0xD7FF, 0x1FFFF)
    return mixed + ["".join(chr(rng.randint(0, rng.choice(limits))) for _ in range(rng.randint(1, 24))) for _ in range(count - count // 2)]


def all_strings() -> list[str]:
    long = ["a" * 300, " " * 100, "ab" * 100, "é" * 64, "\n" * 50, "1" * 40, "🙂" * 20, "word " * 60]
    everything = [*PLAIN, *WHITE_SPACE, *CODE, *SCRIPTS, *EMOJI, *ADDED, *long, *random_strings(60, seed=3)]
    clean = ["".join(c for c in text if not 0xD800 <= ord(c) <= 0xDFFF) for text in everything]
    return list(dict.fromkeys(clean))
