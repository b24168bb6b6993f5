import pytest
import torch
from hypothesis import settings

# An example takes as long as a busy computer needs.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
