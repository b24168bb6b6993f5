"""Adds a section for runs of VirNucPro Desktop to MultiQC's report, read from their run.json."""

import json
import logging

from multiqc import config
from multiqc.base_module import BaseMultiqcModule, ModuleNoSamplesFound
from multiqc.plots import bargraph

log = logging.getLogger(__name__)

CALLS = {
    "virus": {"name": "Virus", "color": "#d9480f"},
    "others": {"name": "Others", "color": "#868e96"},
    "not_scored": {"name": "Not scored", "color": "#ced4da"},
    "failed": {"name": "Failed", "color": "#212529"},
}
# Distinguishes our run.json from other programs'. It is far down, so the entire file is searched.
SIGN = '"chunks_viral"'


def search_patterns() -> None:
    """Register our files' name and content with MultiQC."""
    config.sp.setdefault("virnucpro", {"fn": "run.json", "contents": SIGN, "num_lines": 100_000})


class MultiqcModule(BaseMultiqcModule):
    """Shows sequences by call, and the general statistics of each run."""

    def __init__(self) -> None:
        """Read all runs that MultiQC found."""
        super().__init__(
            name="VirNucPro",
            anchor="virnucpro",
            info="finds viral sequences by embeddings of DNABERT-S and ESM-2.",
        )
        runs = {}
        for file in self.find_log_files("virnucpro"):
            try:
                report = json.loads(file["f"])
                calls = {call: int(report["counts"]["by_prediction"][call]) for call in CALLS}
                name = self.clean_s_name(report["run"]["name"], file)
            except (ValueError, KeyError, TypeError) as reason:
                log.warning("%s is no run.json of VirNucPro: %s", file["fn"], reason)
                continue
            if name in runs:
                log.debug("Duplicate sample name found: %s", name)
            runs[name] = calls
            model = report["plan"]["model"]["title"]
            if report.get("notice"):
                log.warning("%s: %s", name, report["notice"])
            self.add_data_source(file, name)
            self.add_software_version(report["versions"]["app"], name, f"VirNucPro ({model})")
        runs = self.ignore_samples(runs)
        if not runs:
            raise ModuleNoSamplesFound
        self.general_stats_addcols(
            {name: {**calls, "share": _share(calls)} for name, calls in runs.items()},
            {
                "virus": {
                    "title": "Viral",
                    "description": "Sequences called virus",
                    "format": "{:,.0f}",
                    "min": 0,
                },
                "share": {
                    "title": "% viral",
                    "description": "Share of the scored sequences that were called virus",
                    "suffix": "%",
                    "min": 0,
                    "max": 100,
                },
            },
        )
        self.add_section(
            name="Calls",
            anchor="virnucpro-calls",
            description="Sequences of each run by their call.",
            plot=bargraph.plot(
                runs, CALLS, {"id": "virnucpro_calls", "title": "VirNucPro: calls", "ylab": "Sequences"}
            ),
        )
        self.write_data_file(runs, "multiqc_virnucpro")


def _share(calls: dict[str, int]) -> float:
    scored = calls["virus"] + calls["others"]
    return 100 * calls["virus"] / scored if scored else 0.0
