"""Reads the question files: families of wordings, an answer pattern, and rows that fill them in.

Format of a file: "?" lines are wordings and "!" the answer of a family; rows "a | b | ..." fill {0}, {1}, ...;
a "+" line under a row adds a wording for that row alone. "#" is a comment. Each row is one question with exactly
WORDINGS wordings: its own ones first, then the family's, and one of them (fixed by a hash) is held out of training.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path

WORDINGS = 8


@dataclass(frozen=True)
class Question:
    answer: str
    train: tuple[str, ...]
    held_out: str
    known: bool  # False: the right answer is "I don't know"


def capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def make_question(wordings: list[str], own: list[str], answer: str, columns: list[str], known: bool) -> Question:
    texts = own + [capitalized(w.format(*columns)) for w in wordings]
    texts = list(dict.fromkeys(texts))[:WORDINGS]
    drawn = zlib.crc32(texts[-1].encode()) % len(texts)
    train = tuple(t for i, t in enumerate(texts) if i != drawn)
    return Question(capitalized(answer.format(*columns)), train, texts[drawn], known)


def read_file(path: Path) -> list[Question]:
    known = path.stem != "unknown"
    questions: list[Question] = []
    wordings: list[str] = []
    answer = ""
    row: list[str] | None = None
    own: list[str] = []

    def flush() -> None:
        nonlocal row, own
        if row is not None:
            questions.append(make_question(wordings, own, answer, row, known))
        row, own = None, []

    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            flush()
        elif line.startswith("? "):
            if row is not None or answer:
                flush()
                wordings, answer = [], ""
            wordings.append(line[2:])
        elif line.startswith("! "):
            answer = line[2:]
        elif line.startswith("+ "):
            own.append(line[2:])
        else:
            flush()
            row = [c.strip() for c in line.split(" | ")]
    flush()
    return questions


def read_questions(folder: Path) -> list[Question]:
    """All questions of the folder, in file order; refuses a wording that is asked with two different answers."""
    questions = [q for path in sorted(folder.glob("*.txt")) for q in read_file(path)]
    seen: dict[str, str] = {}
    for q in questions:
        for text in (*q.train, q.held_out):
            if seen.setdefault(text.lower(), q.answer) != q.answer:
                raise ValueError(f'"{text}" has two answers: "{seen[text.lower()]}" and "{q.answer}"')
    return questions
