"""Converts letters to token numbers, for all sequences of a part at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from virnucpro_backend.encoders.batches import Batch

TokenArray = npt.NDArray[np.int32]

ESM2_CLS, ESM2_PAD, ESM2_EOS, ESM2_UNK = 0, 1, 2, 3
ESM2_LETTERS = b"LAGVSERTIDPKQNFYMHWCXBUZO.-"
"""The letters of tokens 4 to 30; 31 is <null_1>, 32 is <mask>."""

ENCODE_AT_ONCE = 4096
"""Sequences per call of the tokenizer, which works on them in parallel and without Python's lock."""


@dataclass(frozen=True)
class TokenSequences:
    """Tokenized sequences end to end: `tokens` int32 [T], sequence i at `offsets[i] : offsets[i + 1]`.

    Dummy sequences consist of the token `filler`.
    """

    tokens: TokenArray
    offsets: npt.NDArray[np.int64]
    filler: int

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Tokens per sequence, special tokens included."""
        return np.diff(self.offsets)

    def of_batch(self, batch: Batch) -> TokenArray:
        """Return the tokens of a batch, int32 [batch.n_tokens]: its members in order, then its dummies."""
        out = np.full(batch.n_tokens, self.filler, dtype=np.int32)
        starts, lengths = self.offsets[batch.members], batch.lengths[: len(batch.members)]
        ends = np.cumsum(lengths)
        n_tokens = int(ends[-1]) if ends.size else 0
        shift = np.repeat(starts - (ends - lengths), lengths)
        out[:n_tokens] = self.tokens[np.arange(n_tokens) + shift]
        return out


def _esm2_table() -> TokenArray:
    table = np.full(256, ESM2_UNK, dtype=np.int32)
    table[np.frombuffer(ESM2_LETTERS, dtype=np.uint8)] = np.arange(4, 4 + len(ESM2_LETTERS))
    return table


_ESM2_TABLE = _esm2_table()


def esm2_tokens(residues: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer]) -> TokenSequences:
    """Tokenize every protein as `<cls> residues <eos>`.

    residues: upper-case ASCII letters uint8 [sum]; protein i at `offsets[i] : offsets[i + 1]`. A letter
    outside the vocabulary (`*`, `J`, lower case) becomes `<unk>`.
    """
    offsets = offsets.astype(np.int64)
    n_proteins = len(offsets) - 1
    token_offsets = offsets + 2 * np.arange(n_proteins + 1)
    tokens = np.empty(int(token_offsets[-1]), dtype=np.int32)
    tokens[token_offsets[:-1]] = ESM2_CLS
    tokens[token_offsets[1:] - 1] = ESM2_EOS
    protein = np.repeat(np.arange(n_proteins), np.diff(offsets))
    tokens[np.arange(len(residues)) + 2 * protein + 1] = _ESM2_TABLE[residues]
    return TokenSequences(tokens, token_offsets, filler=4)


class DnaTokenizer:
    """DNABERT-S's byte-pair encoding from its `tokenizer.json`: `[CLS] x [SEP]`, never truncated."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        pad = self._tokenizer.token_to_id("[PAD]")
        if pad is None or len(self._tokenizer.encode("").ids) != 2:
            raise ValueError(f"{path.name} is not DNABERT-S's tokenizer: it does not write [CLS] x [SEP]")
        self._filler: int = pad

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        size: int = self._tokenizer.get_vocab_size()
        return size

    def encode(self, nucleotides: npt.NDArray[np.uint8], offsets: npt.NDArray[np.integer]) -> TokenSequences:
        """Tokenize every sequence. nucleotides: upper-case ASCII letters uint8 [sum]; sequence i is at
        `offsets[i] : offsets[i + 1]`."""
        text = nucleotides.tobytes().decode("ascii")
        bounds = offsets.tolist()
        sequences = [text[begin:end] for begin, end in itertools.pairwise(bounds)]
        ids: list[TokenArray] = []
        for begin in range(0, len(sequences), ENCODE_AT_ONCE):
            encoded = self._tokenizer.encode_batch_fast(sequences[begin : begin + ENCODE_AT_ONCE])
            ids.extend(np.asarray(encoding.ids, dtype=np.int32) for encoding in encoded)
        token_offsets = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum([len(tokens) for tokens in ids], out=token_offsets[1:])
        tokens = np.concatenate(ids) if ids else np.empty(0, dtype=np.int32)
        return TokenSequences(tokens, token_offsets, filler=self._filler)
