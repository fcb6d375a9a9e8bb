"""Writes unigram/tokenizer.json, a tokenizer as XLM-RoBERTa's whose pieces sentencepiece learns here, with its normalizer, and
unigram/cases.json: what sentencepiece itself makes of texts, and of pairs as XLM-RoBERTa has them (<s> A </s></s> B </s>).

Usage: python generate/unigram.py   (in the environment of make-venv.sh)
"""

import io
import json
from pathlib import Path

import sentencepiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from strings import all_strings

HERE = Path(__file__).parent.parent
BEGIN, PADDING, END, UNKNOWN = range(4)
# Of sentencepiece's ModelProto, and of its NormalizerSpec.
NORMALIZER, CHARSMAP = 3, 2
OWN = ["<s>", "<pad>", "</s>", "<unk>"]
# Full width, ligatures, marks that combine, spaces of all kinds.
MORE = ["Ｆｕｌｌ　ｗｉｄｔｈ", "ﬁne ﬂow", "e\u0301te\u0301 and été", "a\u00a0b\u2003c\td", "  two  spaces  ", "½ №5 ™", "ⅷ Å", "\u200bzero\u200dwidth"]

# Where the library normalizes otherwise than sentencepiece, for all models of that kind: a control character, and marks behind a letter that has one.
OTHERWISE = ("a\x85b", "a\u0301\u0302\u0303b", "\u00e1\u0302\u0303b")


def trained() -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter((HERE / "real" / "lighthouse.txt").read_text().splitlines()),
        model_writer=model,
        model_type="unigram",
        vocab_size=160,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def field(message: bytes, wanted: int) -> bytes:
    """The first field of that number of a message of protobuf, which is no number."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        if kind == 2 and number == wanted:
            return message[at : at + size]
        at += size
    raise ValueError(f"no field {wanted}")


def main() -> None:
    model = trained()
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model)
    # The processor's own three are <unk>, <s>, </s>.
    learned = [(pieces.id_to_piece(i), pieces.get_score(i)) for i in range(3, pieces.get_piece_size())]
    vocab = [(name, 0.0) for name in OWN] + learned + [("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(vocab, unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Precompiled(field(field(model, NORMALIZER), CHARSMAP))
    split = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), split])
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", BEGIN), ("</s>", END)]
    )
    tokenizer.add_special_tokens([*OWN, "<mask>"])
    folder = HERE / "unigram"
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str()), separators=(",", ":"), ensure_ascii=False) + "\n")

    def ids(text: str) -> list[int]:
        return [UNKNOWN if i == 0 else i + 1 for i in pieces.encode(text)]

    # What the tokenizer takes for special tokens, the processor takes for text.
    texts = [text for text in all_strings() + MORE if "<" not in text and text not in OTHERWISE]
    single = [{"text": text, "ids": [BEGIN, *ids(text), END]} for text in texts]
    pairs = [
        {"query": a, "document": b, "ids": [BEGIN, *ids(a), END, END, *ids(b), END]} for a, b in zip(texts, texts[1:] + texts[:1]) if a and b
    ]
    content = {"single": single, "pairs": pairs[-16:]}
    (folder / "cases.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
