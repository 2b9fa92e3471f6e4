"""Energy and price of a step and of a sample: published power and list price times simulated time."""

from __future__ import annotations

from typing import Any

from simulator.machines.catalogue import System
from simulator.machines.ipu import Ipu
from simulator.report.parts import Parts

HOURS_A_YEAR = 8760
JOULES_A_KWH = 3.6e6


def costs(parts: Parts, step_seconds: float, samples_per_second: float) -> dict[str, Any]:
    """Watts of the slice with its hosts, energy and price; ``price`` is None where ``no_price`` says why."""
    watts = parts.parallel.system.watts_for(parts.parallel.ipus, parts.config.hosts)
    joules = watts / samples_per_second
    return {
        "watts": watts,
        "energy": {
            "joules_a_step": watts * step_seconds,
            "joules_a_sample": joules,
            "kwh_a_million_samples": joules * 1e6 / JOULES_A_KWH,
            "formula": f"{watts:,.0f} W of machines and hosts x time",
        },
        "price": _price(parts, watts, samples_per_second),
        "no_price": why_no_price(parts.parallel.system),
    }


def why_no_price(system: System) -> str:
    """The sentence that stands in place of a price; "" where there is one."""
    return "" if system.price_for(1) is not None else f"no list price of a {system.name} is published"


def dollars_an_hour(system: System, ipus: int, watts: float, ipu: Ipu) -> float | None:
    """List price of a slice over the years it is used, and its electricity. None where no list price is published."""
    listed = system.price_for(ipus)
    if listed is None:
        return None
    return listed / (ipu.fact("cost.amortisation") * HOURS_A_YEAR) + watts / 1000 * ipu.fact("cost.electricity")


def _price(parts: Parts, watts: float, samples_per_second: float) -> dict[str, Any] | None:
    system, ipus = parts.parallel.system, parts.parallel.ipus
    listed, hourly = system.price_for(ipus), dollars_an_hour(system, ipus, watts, parts.ipu)
    if listed is None or hourly is None:
        return None
    years, electricity = parts.ipu.fact("cost.amortisation"), parts.ipu.fact("cost.electricity")
    return {
        "list_usd": listed,
        "usd_an_hour": hourly,
        "usd_a_million_samples": hourly / 3600 / samples_per_second * 1e6,
        "formula": (
            f"list price of the machines {listed:,.0f} USD over {years:g} years in use all the time, "
            f"and electricity at {electricity:g} USD/kWh; hosts, staff and room are not counted"
        ),
    }
