"""sbatch, squeue and scancel of a made-up SLURM: tasks are processes of this computer, noted in files.

Called as one of the three by the name it is started under. A file `refuse` in its folder is what sbatch says
instead of taking a job; `hold` has tasks wait for the reason in it; `down` has squeue fail.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HOME = Path(tempfile.gettempdir())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def start(job: int, task: int, life: int, script: str, folder: str) -> dict[str, object]:
    environment = {
        **os.environ,
        "SLURM_JOB_ID": str(job + task),
        "SLURM_ARRAY_JOB_ID": str(job),
        "SLURM_ARRAY_TASK_ID": str(task),
        "SLURM_RESTART_COUNT": str(life),
        "SLURMD_NODENAME": f"node{task}",
    }
    with (HOME / f"{job}_{task}.log").open("ab") as log:
        process = subprocess.Popen(
            ["bash", script, folder],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return {"pid": process.pid, "state": "RUNNING", "life": life, "script": script, "folder": folder}


def sbatch(arguments: list[str]) -> None:
    if arguments == ["--version"]:
        print("slurm 99.11.1")
        return
    if (HOME / "refuse").exists():
        sys.exit((HOME / "refuse").read_text())
    script, folder = arguments[-2:]
    array = re.search(r"--array=0-(\d+)", " ".join(arguments) + Path(script).read_text())
    assert array
    job = 100 * (1 + len(list(HOME.glob("*.json"))))
    hold = (HOME / "hold").exists()
    tasks = {
        task: {"pid": 0, "state": "PENDING", "life": 0, "script": script, "folder": folder}
        if hold
        else start(job, task, 0, script, folder)
        for task in range(int(array[1]) + 1)
    }
    (HOME / f"{job}.json").write_text(json.dumps(tasks))
    print("A greeting of the site")
    print(job)


def squeue(arguments: list[str]) -> None:
    if (HOME / "down").exists():
        sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
    for job in re.search(r"--jobs=([\d,]+)", " ".join(arguments))[1].split(","):  # type: ignore[index]
        for task, facts in json.loads((HOME / f"{job}.json").read_text()).items():
            state = facts["state"]
            if state == "RUNNING" and not alive(facts["pid"]):
                state = "FAILED"
            reason = (HOME / "hold").read_text() if state == "PENDING" else "None"
            print(f"{job}|{task}|{state}|{reason}")


def scancel(arguments: list[str]) -> None:
    for name in arguments:
        job, _, only = name.partition("_")
        path = HOME / f"{job}.json"
        tasks = json.loads(path.read_text())
        for task, facts in tasks.items():
            if only in ("", task) and facts["state"] in ("RUNNING", "PENDING"):
                facts["state"] = "CANCELLED"
                if facts["pid"] and alive(facts["pid"]):
                    os.killpg(facts["pid"], signal.SIGTERM)
        path.write_text(json.dumps(tasks))


if __name__ == "__main__":
    {"sbatch": sbatch, "squeue": squeue, "scancel": scancel}[Path(sys.argv[0]).name](sys.argv[1:])
