"""The teaching model's tokenizer: it splits a frame into pieces of six letters, that is pairs of codons."""

from __future__ import annotations

import itertools

import tokenizers
from tokenizers import Regex

SPECIAL = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
MASK = SPECIAL.index("[MASK]")


def hexamer_tokenizer() -> tokenizers.Tokenizer:
    """Make the tokenizer. A frame has 3n + 1 or 3n letters, so its last piece has 1, 3, 4 or 6."""
    pieces = ["".join(p) for size in (6, 4, 3, 1) for p in itertools.product("ACGT", repeat=size)]
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, *pieces))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(Regex(".{1,6}"), behavior="isolated")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def codons_of_hexamers(tokenizer: tokenizers.Tokenizer) -> list[list[int]]:
    """Number the two parts of every token, its first and its second codon; 0 stands for none."""
    numbers: dict[str, int] = {"": 0}
    parts = []
    for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]):
        halves = ("", "") if piece in SPECIAL else (piece[:3], piece[3:] and "+" + piece[3:])
        parts.append([numbers.setdefault(half, len(numbers)) for half in halves])
    return parts
