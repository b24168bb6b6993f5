"""The comparison with the original tool agrees with independent code, and detects known faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from plain_dnabert_s import plain_dnabert_s
from published_files import DNABERT_S, ESM2, RESOURCES, hugging_face_esm2, write_published
from random_weights import random_head
from tokenizers import Tokenizer
from torch import Tensor

from virnucpro_backend.check.original import Difference, compare_with_original, read_answers
from virnucpro_backend.check.scoring import open_panel_scorer
from virnucpro_backend.devices.precisions import Precision
from virnucpro_backend.safetensors_file import sha256_of_file
from virnucpro_backend.weights.model_files import ModelFile
from virnucpro_backend.weights.model_json import ModelDescription, NormBand, read_model_json, write_model_json

RUN = Path(__file__).parents[1] / "data" / "original_run"
ALPHABET = {letter: 4 + i for i, letter in enumerate("LAGVSERTIDPKQNFYMHWC")}


def write_model(folder: Path, fault: Callable[[dict[str, Path]], None] = lambda paths: None) -> None:
    """Write a small model in the published formats, as if downloaded, with a fault."""
    paths = write_published(folder)
    fault(paths)
    files = {
        role: ModelFile(path.relative_to(folder).as_posix(), path.stat().st_size, sha256_of_file(path))
        for role, path in paths.items()
        if role != "dnabert_s_config"
    }
    bands = {"esm2": NormBand(12, 16), "dnabert_s": NormBand(2, 5)}
    write_model_json(folder, ModelDescription("500", "500", None, 500, files, ESM2, DNABERT_S, bands))


def independent_answers(folder: Path, nucleotides: str, protein: str) -> tuple[float, float, list[float]]:
    """Compute norms of ESM-2 and DNABERT-S, and the scores, with transformers, the plain DNABERT-S in FP64
    and PyTorch's own layers.
    """
    esm2 = hugging_face_esm2().eval()
    tokens = torch.tensor([[0, *(ALPHABET[letter] for letter in protein), 2]])
    hidden: Tensor = esm2.esm(tokens, attention_mask=torch.ones_like(tokens)).last_hidden_state[0]
    protein_vector = hidden[1:-1].mean(dim=0).double()

    weights = torch.load(folder / "DNABERT-S" / "pytorch_model.bin", weights_only=True)
    ids = Tokenizer.from_file(str(folder / "DNABERT-S" / "tokenizer.json")).encode(nucleotides).ids
    states = plain_dnabert_s(weights, DNABERT_S.layers, DNABERT_S.heads, torch.tensor(ids))
    dna_vector = states.mean(dim=0)

    head = random_head(DNABERT_S.width + ESM2.width).double()
    scores = head(torch.cat((dna_vector, protein_vector))[None])[0].softmax(dim=0)
    return float(protein_vector.norm()), float(dna_vector.norm()), scores.tolist()


def write_reference(path: Path, folder: Path) -> None:
    frames: list[dict[str, Any]] = json.loads((RESOURCES / "reference-answers.json").read_text())[0]["frames"]
    with torch.inference_mode():
        for frame in frames:
            esm2, dnabert_s, (score1, score2) = independent_answers(
                folder, frame["nucleotides"], frame["protein"]
            )
            frame |= {"esm2_norm": esm2, "dnabert_s_norm": dnabert_s, "score1": score1, "score2": score2}
    answers = {
        "models": ["500"],
        "esm2": {"layers": ESM2.layers, "width": ESM2.width},
        "dnabert_s": {"layers": DNABERT_S.layers, "width": DNABERT_S.width},
        "source": "an independent implementation",
        "frames": frames,
    }
    path.write_text(json.dumps([answers]))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model folder in the published formats, and the results of independent code for it."""
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    reference = tmp_path_factory.mktemp("reference")
    write_reference(reference / "reference-answers.json", folder)
    return folder, reference


def compared(folder: Path, resources: Path, precision: Precision = "fp32") -> dict[str, Difference]:
    [known] = [each for each in read_answers(resources) if each.apply_to(read_model_json(folder))]
    return compare_with_original(known, open_panel_scorer(folder, "cpu", precision), precision)


def test_published_formats_give_the_answers_of_independent_code(model: tuple[Path, Path]) -> None:
    fp32 = compared(*model)
    assert set(fp32) == {"norm", "score"}
    assert all(each.difference < 1e-4 for each in fp32.values())
    for precision in ("fp32", "bf16", "fp16"):
        assert not any(each.is_wrong for each in compared(*model, precision).values())


def without_token_dropout(paths: dict[str, Path]) -> None:
    """Simulate an implementation that omits the factor 0.88."""
    content = torch.load(paths["esm2"], weights_only=False)
    content["model"]["encoder.sentence_encoder.embed_tokens.weight"] /= 0.88
    torch.save(content, paths["esm2"])


def one_layer_is_another(paths: dict[str, Path]) -> None:
    """Replace a layer by one of other weights that has the right size."""
    tensors = torch.load(paths["dnabert_s"], weights_only=True)
    tensors["encoder.layer.1.mlp.wo.weight"] = tensors["encoder.layer.1.mlp.wo.weight"].flip(0)
    torch.save(tensors, paths["dnabert_s"])


@pytest.mark.parametrize("fault", [without_token_dropout, one_layer_is_another])
def test_other_weights_and_known_faults_are_detected(
    tmp_path: Path, model: tuple[Path, Path], fault: Callable[[dict[str, Path]], None]
) -> None:
    write_model(tmp_path, fault)
    assert any(each.is_wrong for each in compared(tmp_path, model[1]).values())


def fasta(name: str) -> dict[str, str]:
    records = (RUN / name).read_text().split(">")[1:]
    return {header: "".join(lines) for header, *lines in (record.split() for record in records)}


def test_the_published_answers_match_the_original_run() -> None:
    published, without_scores = read_answers(RESOURCES)
    merged = torch.load(RUN / "output_1_merged.pt", weights_only=True)
    vectors = dict(zip(merged["ids"], merged["data"].double(), strict=True))
    nucleotides = fasta("test_with_orfs_identified_nucleotide.fa")
    proteins = fasta("test_with_orfs_identified_protein.faa")
    scores = [
        (0.12100612, 0.8789939),
        (0.0011595711, 0.9988405),
        (0.5501341, 0.4498659),
        (0.06045397, 0.93954605),
    ]
    without: list[tuple[None, None]] = [(None, None)] * 4
    for answers, their_scores in ((published, scores), (without_scores, without)):
        for frame, (score1, score2) in zip(answers.frames, their_scores, strict=True):
            vector = vectors[frame.id]
            assert (frame.nucleotides, frame.protein) == (nucleotides[frame.id], proteins[frame.id])
            assert (frame.score1, frame.score2) == (score1, score2)
            assert frame.esm2_norm == pytest.approx(float(vector[768:].norm()), rel=1e-12)
            assert frame.dnabert_s_norm == pytest.approx(float(vector[:768].norm()), rel=1e-12)
