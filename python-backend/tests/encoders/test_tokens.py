from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from virnucpro_backend.encoders.tokens import DnaTokenizer, esm2_tokens

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo-model"

PUBLISHED_IDS = (
    "L4 A5 G6 V7 S8 E9 R10 T11 I12 D13 P14 K15 Q16 N17 F18 Y19 M20 H21 W22 C23 X24 B25 U26 Z27 O28"
)


def letters(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    return np.frombuffer("".join(texts).encode(), np.uint8), np.cumsum([0] + [len(text) for text in texts])


def test_esm2_ids_are_the_published_ones() -> None:
    pairs = [(item[0], int(item[1:])) for item in PUBLISHED_IDS.split()]
    tokens = esm2_tokens(*letters("".join(letter for letter, _ in pairs), "*Jk", "", "MA"))
    assert tokens.tokens.tolist() == [0, *(i for _, i in pairs), 2, 0, 3, 3, 3, 2, 0, 2, 0, 20, 5, 2]
    assert tokens.lengths.tolist() == [27, 5, 2, 4]


def test_dna_tokens_match_those_of_the_tokenizer() -> None:
    random = np.random.RandomState(1)
    sequences = ["".join(random.choice(list("ACGT"), n)) for n in random.randint(1, 500, 40)]
    sequences[3] = "ACGTNNACGT"
    sequences[5] = ""
    tokens = DnaTokenizer(DEMO / "dnabert_s" / "tokenizer.json").encode(*letters(*sequences))
    plain = Tokenizer.from_file(str(DEMO / "dnabert_s" / "tokenizer.json"))
    for number, sequence in enumerate(sequences):
        got = tokens.tokens[tokens.offsets[number] : tokens.offsets[number + 1]].tolist()
        assert got == plain.encode(sequence).ids
        assert (got[0], got[-1]) == (1, 2)


def test_more_sequences_than_fit_in_one_call_are_tokenized(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = DnaTokenizer(DEMO / "dnabert_s" / "tokenizer.json")
    sequences = letters(*["ACGT" * n for n in range(1, 12)])
    whole = tokenizer.encode(*sequences)
    monkeypatch.setattr("virnucpro_backend.encoders.tokens.ENCODE_AT_ONCE", 4)
    split = tokenizer.encode(*sequences)
    assert split.tokens.tolist() == whole.tokens.tolist()
    assert split.offsets.tolist() == whole.offsets.tolist()
