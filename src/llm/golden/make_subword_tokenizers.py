"""Makes golden/subword-tokenizers.json: small tokenizers that are not byte-level BPE, as families of public checkpoints write them (Unigram as T5 and
XLM-R, BPE of SentencePiece with bytes behind it as Llama 2 and Mistral, WordPiece as BERT), and what they encode.

Run with `tokenizers` 0.23 as: python make_subword_tokenizers.py FILE. For every text: the ids with added tokens recognised (add_special_tokens=False), the
ids where no text is an added token, and the decoded text of the former with and without special tokens.
"""
import json, sys
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

corpus = [
    "The cat isn't here, it's there; we'll see what they've done. I'm sure you're right, she'd say.",
    "In 2024 there were 1234567 cats and 42 dogs; 3.14159 is about pi, and 1,000,000 is many.",
    "def f(x):\n    if x > 0:\n        return x\n    return -x\n\n\nprint(f(-12))\r\n\treturn  None",
    "naïve café, über Straße, Ελληνικά, русский язык, 日本語のテキスト, 한국어, العربية, हिन्दी",
    '{"name": "read_file", "arguments": {"path": "/notes/march.txt"}}',
] * 3
texts = corpus[:5] + [
    " ", "  ", "   a", "a   ", "a  b", "\n", "\n\n  x", "\t\ttabs", "It's IT'S 'tis", "1 12 123", "a1b2c3", "!!! ... ?!?!", "(parens) [x] {y} <z>", "x==y!=z",
    "e\u0301 \u00e9 \u212b \ufb01", "👩\u200d👩\u200d👧 🏳️\u200d🌈 👍🏽", "\U0001d518𐍈", "a\u00a0b\u3000h", "\x00\x01\x7f", "日本語 テキスト、漢字。", "中文字符123混合text", "한국어 문장", "العربية",
    "ÀÉÎõü", "https://example.org/a?b=c", "C:\\path\\to", "$100.00 €5", "<s>", "</s>", "a<s>b</s> c", "<s> a", "[CLS] a [SEP]", "a[SEP]b", "<unk>", "[UNK]", "<0x0A>", "▁", "▁a", "a▁b", "##a",
    "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "the the the cat cat", "a" * 120, " " * 40, "\n" * 9, "- " * 20, "there there's THERE",
]
plain = ["<tool_call>", "</tool_call>"]
hidden = lambda i: f"\ue000{i}\ue000"

def unigram():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    t.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    t.train_from_iterator(corpus, trainers.UnigramTrainer(vocab_size=260, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False))
    return t, ["<s>", "</s>", "<unk>"]

def llama2():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator([c.replace("日本語", "") for c in corpus], trainers.BpeTrainer(vocab_size=460, special_tokens=special, max_token_length=8, show_progress=False))
    data = json.loads(t.to_str())
    data["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(data)), ["<unk>", "<s>", "</s>"]

def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(corpus, trainers.WordPieceTrainer(vocab_size=220, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"], show_progress=False))
    return t, ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]

result = {}
for family, make in (("unigram", unigram), ("llama2", llama2), ("wordpiece", wordpiece)):
    tokenizer, special = make()
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = []
    full = Tokenizer.from_str(json.dumps(data))
    full.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in special])
    full.add_tokens([AddedToken(s, special=False, normalized=False) for s in plain])
    # No text becomes a special token: these are pieces that no text has.
    bare = json.loads(json.dumps(data))
    unknown = {"unigram": "<unk>", "llama2": "<unk>", "wordpiece": "[UNK]"}[family]
    if family == "unigram":
        bare["model"]["vocab"] = [[hidden(i) if piece in special else piece, score] for i, (piece, score) in enumerate(bare["model"]["vocab"])]
    else:
        bare["model"]["vocab"] = {hidden(i) if piece in special and piece != unknown else piece: i for piece, i in bare["model"]["vocab"].items()}
    bare = Tokenizer.from_str(json.dumps(bare))
    cases = []
    for text in texts:
        ids = full.encode(text, add_special_tokens=False).ids
        cases.append([text, ids, bare.encode(text, add_special_tokens=False).ids, full.decode(ids, skip_special_tokens=False), full.decode(ids)])
    result[family] = {"json": json.loads(full.to_str()), "cases": cases}
json.dump(result, open(sys.argv[1], "w"), ensure_ascii=True)
