"""Functions for a worker process, which imports this module and little else."""

from __future__ import annotations

import threading

import numpy as np

from app.processes.function_process import Report


def wait_for_ever(report: Report) -> int:
    report(0.5, "waiting")
    threading.Event().wait()
    return 1


def fail(report: Report) -> int:
    raise ValueError("an odd graph")


def total(array: np.ndarray, report: Report) -> float:
    return float(array.sum())


def doubled(arrays: dict[str, np.ndarray], report: Report) -> dict[str, np.ndarray]:
    for array in arrays.values():
        array *= 2
    return arrays
