"""Byte-level BPE of VOCAB entries in Qwen's manner: NFC, Qwen's pre-tokenizer pattern, chat markers as added tokens."""

from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

VOCAB = 2048
END_OF_TEXT, IM_START, IM_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
SPECIAL = (END_OF_TEXT, IM_START, IM_END)
# Part of the text that a client sees, so not "special": a decoder that skips special tokens keeps them.
THINK = ("<think>", "</think>")

# The pattern of the Qwen3.5 family: contractions, words with marks, single digits, punctuation, line ends, spaces.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def train_tokenizer(texts: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(byte_fallback=False))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB - len(SPECIAL) - len(THINK),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in THINK])
    if tokenizer.get_vocab_size() != VOCAB:
        raise ValueError(f"the texts give {tokenizer.get_vocab_size()} entries, need {VOCAB}: add text")
    return tokenizer


def load_or_train(path: Path, texts: list[str]) -> Tokenizer:
    """The tokenizer in path; trained and saved there on the first call, so that a resumed run keeps its ids."""
    if not path.exists():
        train_tokenizer(texts).save(str(path))
    return Tokenizer.from_file(str(path))
