"""The ticker's rounds: each when it is due, and one that fails stops no other."""

from portal.ticker.rounds import Round, call_due, rounds, wrong


def test_one_that_fails_stops_no_other(caplog):
    called = []

    def fail() -> None:
        raise RuntimeError("broken")

    wait = call_due([Round("broken", 5.0, fail), Round("works", 5.0, lambda: called.append(1))])
    assert called == [1]
    assert "the round broken failed" in caplog.text
    assert 4.0 < wait <= 5.0


def test_a_round_waits_for_its_time():
    called = []
    one = Round("seldom", 60.0, lambda: called.append(1))
    call_due([one])
    call_due([one])
    assert called == [1]


def test_readiness_knows_when_it_was_seen(caplog):
    from django.core.cache import cache

    from portal.ticker.rounds import SEEN

    cache.delete(SEEN)
    assert "no ticker" in wrong()
    call_due(rounds())
    assert wrong() == ""
    assert "failed" not in caplog.text
