"""Writes sentence-pieces.json: what sentencepiece makes of texts, by byte pairs that it learns here, as Llama 2, Mistral and Gemma have them.

Usage: python generate/sentence_pieces.py   (in the environment of make-venv.sh)
"""

import io
import json
from pathlib import Path

import sentencepiece

from strings import all_strings

HERE = Path(__file__).parent.parent
# Kinds of tokens, as GGUF numbers them.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def trained(prefixed: bool) -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter((HERE / "real" / "lighthouse.txt").read_text().splitlines()),
        model_writer=model,
        model_type="bpe",
        vocab_size=700,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        split_digits=True,
        allow_whitespace_only_pieces=True,
        add_dummy_prefix=prefixed,
        num_threads=1,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def kind_of(pieces: sentencepiece.SentencePieceProcessor, i: int) -> int:
    if pieces.is_byte(i):
        return BYTE
    if pieces.is_unknown(i):
        return UNKNOWN
    return CONTROL if pieces.is_control(i) else NORMAL


def written(prefixed: bool) -> dict:
    pieces = trained(prefixed)
    ids = range(pieces.get_piece_size())
    # The processor takes what it writes for control tokens for text.
    texts = [text for text in all_strings() if "<" not in text]
    cases = [{"text": text, "ids": pieces.encode(text)} for text in texts]
    return {
        "addSpacePrefix": prefixed,
        "tokens": [pieces.id_to_piece(i) for i in ids],
        "scores": [pieces.get_score(i) for i in ids],
        "kinds": [kind_of(pieces, i) for i in ids],
        "cases": [case | {"decoded": pieces.decode(case["ids"])} for case in cases],
    }


if __name__ == "__main__":
    content = {"reference": {"sentencepiece": sentencepiece.__version__}, "tokenizers": [written(True), written(False)]}
    (HERE / "sentence-pieces.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")
    print([len(each["cases"]) for each in content["tokenizers"]])
