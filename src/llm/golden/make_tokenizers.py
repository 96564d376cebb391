"""Makes golden/tokenizers.json: three small tokenizers trained with `tokenizers`, each as its family writes them, and what they encode.

Run as: python make_tokenizers.py FILE. For every text: the ids with added tokens recognised (add_special_tokens=False), the ids of the same
tokenizer without added tokens, and the decoded text of the former with and without special tokens.
"""
import json, sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

split = {
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
special = {
    "gpt2": ["<|endoftext|>"],
    "llama3": ["<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"],
    "qwen2": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
}
plain = {"gpt2": [], "llama3": [], "qwen2": ["<tool_call>", "</tool_call>", "<think>", "</think>"]}
corpus = [
    "The cat isn't here, it's there; we'll see what they've done. I'm sure you're right, she'd say.",
    "In 2024 there were 1234567 cats and 42 dogs; 3.14159 is about pi, and 1,000,000 is many.",
    "def f(x):\n    if x > 0:\n        return x\n    return -x\n\n\nprint(f(-12))\r\n\treturn  None",
    "naïve café, über Straße, Ελληνικά, русский язык, 日本語のテキスト, 한국어, العربية, हिन्दी",
    '{"name": "read_file", "arguments": {"path": "/notes/march.txt"}}',
] * 3
texts = corpus[:5] + [
    "", " ", "  ", "   a", "a   ", "a  b", "\n", "\n\n", " \n", "\n ", " \n \n  x", "a\n\n  b\r\n\r\nc", "\t\ttabs\tand spaces \t x", "\r", "x\r",
    "It's IT'S it'S I'LL you'RE 'tis 'twas ''s '", "don\u2019t \u2018quote\u2019", "'\u017f'S",
    "1 12 123 1234 12345 123456 1234567", "3.14 1e-9 0x1F ½ ² Ⅷ ٣٤٥ १२३", "a1b2c3", "v2.0.1-rc1", " 42", "  42", "\n42",
    "!!! ... --- ?!?! :-) ;;\n;;\r\n\n", " (parens) [brackets] {braces} <tags>", "x==y!=z>=w", "a_b_c __init__ snake_case",
    "e\u0301 \u00e9 \u212b \ufb01 A\u030a \u1e9b\u0323", "\u0928\u093f \u0ba8\u0bbf \u0e33", "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 👍🏽 🇩🇪", "\U0001d518\U0001d52b𐍈",
    "a\u00a0b\u2028c\u2029d\u0085e\ufefff\u200bg\u3000h\u1680i\u180ej", "\u0085\u0085x", "\ufeff\ufeffx", " \u00a0 \u2003x", "\x00\x01\x7f\x80\x9f",
    "日本語 テキスト、漢字。", "中文字符123混合text", "한국어 문장", "العربية نص", "עברית", "ไทย", "русский-язык",
    "ÀÉÎõü ÀÉ", "ſtraße K\u212a", "https://example.org/a?b=c&d=%20e#f", "C:\\path\\to\\file.txt", "$100.00 €5 £3",
    "<|endoftext|>", "a<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
    "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "<think>\n\n</think>\n\nyes", "<|im_start|", "<|im_<|im_end|>", "<|im_end|><|im_end|>", " <|im_end|> ",
    "the the the cat cat", "aaaaaaaaaaaaaaaaaaaaaaaa", "return return  return   return", "there there's THERE", "ab" * 40, " " * 70, "\n" * 9, "-" * 33,
]

result = {}
for family in ("gpt2", "llama3", "qwen2"):
    tokenizer = Tokenizer(models.BPE(ignore_merges=family == "llama3"))
    if family == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    byte_level = dict(add_prefix_space=False, trim_offsets=False)
    if family == "gpt2":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(split[family]), behavior="isolated", invert=False),
            pre_tokenizers.ByteLevel(**byte_level, use_regex=False),
        ])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=330, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                                                               show_progress=False))
    bare = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in special[family]])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in plain[family]])
    data = json.loads(tokenizer.to_str())
    if family == "qwen2":
        data["model"]["merges"] = [" ".join(pair) for pair in data["model"]["merges"]]
    if family == "llama3":
        # A word of the vocabulary that no merge makes, as published vocabularies have.
        data["model"]["merges"] = [pair for pair in data["model"]["merges"] if "".join(pair) != "Ġthere"]
        bare_data = json.loads(bare.to_str())
        bare_data["model"]["merges"] = data["model"]["merges"]
        bare = Tokenizer.from_str(json.dumps(bare_data))
    tokenizer = Tokenizer.from_str(json.dumps(data))
    cases = []
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        cases.append([text, ids, bare.encode(text, add_special_tokens=False).ids,
                      tokenizer.decode(ids, skip_special_tokens=False), tokenizer.decode(ids, skip_special_tokens=True)])
    result[family] = {"json": data, "cases": cases}
    print(family, tokenizer.get_vocab_size(), len(cases))
with open(sys.argv[1], "w") as out:
    out.write(json.dumps(result))
