"""Encodes the texts of each job on standard input with Hugging Face's `tokenizers`, for tokenizers.ts.

The job `precompiled` gets SentencePiece's table of normalisation (nmt_nfkc) in place of its normaliser; a throwaway SentencePiece model holds it.
"""
import base64, io, json, sys
import sentencepiece
from tokenizers import Tokenizer


def field(message, wanted):
    """The bytes of a field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        size = {0: None, 1: 8, 2: None, 5: 4}[key & 7]
        if key & 7 == 0:
            varint()
            continue
        size = varint() if size is None else size
        if key >> 3 == wanted:
            return message[at : at + size]
        at += size
    raise ValueError(f"no field {wanted}")


def charsmap():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat and the dog"] * 10), model_writer=model, vocab_size=20, hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc", minloglevel=2)
    # normalizer_spec of ModelProto, and its precompiled_charsmap.
    return base64.b64encode(field(field(model.getvalue(), 3), 2)).decode()


answers = []
for job in json.load(sys.stdin):
    data = job["json"]
    if job["name"] == "precompiled":
        data["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": charsmap()}
    tokenizer = Tokenizer.from_str(json.dumps(data))
    answers.append({"json": data, "ids": [tokenizer.encode(text, add_special_tokens=False).ids for text in job["texts"]]})
json.dump(answers, sys.stdout)
