"""Tonight's sheet in words: every sentence follows from the rules, and the text gives back the same orders."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.evening.orders_file import read_orders
from midwatch.rules.gate.levels import effective_level
from midwatch.rules.paths import pattern_fault
from midwatch.rules.people.asks import approved_at_once, what_silence_means
from midwatch.terms.acts import LEVEL_MEANS, MATRIX, ActKind
from midwatch.terms.asks import AskKind
from midwatch.terms.figures import dollars, micros, span
from midwatch.terms.orders import LINES, Limits, OrderedWork, Orders, Permissions
from midwatch.terms.projects import Flag
from midwatch.terms.trust import GateOutcome, Isolation, Level
from midwatch.views.pages.estimate import estimate
from midwatch.views.pages.orders_text import orders_text
from midwatch.views.pages.sheet import PastNight, ProjectSeen, SheetFacts, tonight_only
from midwatch.views.pages.sheet_changes import sheet_changes
from midwatch.views.pages.tonight import DOING, silence_on_plans, will_not, worth_knowing

ORDERS = Orders(
    goals=("Tidy",),
    work=(OrderedWork(project="shop", title="Tidy up"),),
    permissions=Permissions(silence_approves=True),
)


def facts(orders: Orders = ORDERS, **more: Any) -> SheetFacts:
    silence = what_silence_means(
        AskKind.APPROVE_PLAN, orders.level, inside_scopes=True, silence_approves=orders.permissions.silence_approves
    )
    usual: dict[str, Any] = {
        "standing": orders.level,
        "outcomes": {kind: outcome for (kind, level), outcome in MATRIX.items() if level is orders.level},
        "plan_silence": silence,
        "plan_minutes": 0 if approved_at_once(silence, orders.level) else 20,
        "files_per_job": 20,
        "lines_per_job": 800,
        "jobs_per_project": 1,
        "round_minutes": 5,
        "idle_minutes": 30,
        "isolation": Isolation.BUBBLEWRAP,
        "most_by_walls": effective_level(Level.FULL, more.get("isolation", Isolation.BUBBLEWRAP), "any"),
        "model_free": ("housekeeper",),
        "thinks_by_rules": True,
        "projects": (ProjectSeen(name="shop"),),
    }
    return SheetFacts(orders=orders, **usual | more)


def at(level: Level, **more: Any) -> SheetFacts:
    return facts(ORDERS.model_copy(update={"level": level, **more}))


@pytest.mark.parametrize("level", Level)
def test_the_sentences_about_acts_say_what_the_table_says(level: Level) -> None:
    said = will_not(at(level))
    for kind, words in DOING.items():
        outcome = MATRIX[kind, level]
        asked = any(words in one.lower() and "without your yes" in one for one in said)
        suggested = any(words in one.lower() and "only suggested" in one for one in said)
        never = any(words in one.lower() and "no tool for it" in one for one in said)
        assert asked == (outcome is GateOutcome.ASK_FIRST), kind
        assert suggested == (outcome is GateOutcome.SAY_ONLY), kind
        assert never == (outcome is GateOutcome.REFUSE), kind


@pytest.mark.parametrize("level", Level)
def test_merging_is_a_persons_act_at_every_level(level: Level) -> None:
    assert "Merge anything. Only a person may do that." in will_not(at(level))


@pytest.mark.parametrize("level", Level)
def test_what_a_level_means_agrees_with_the_table(level: Level) -> None:
    """O4: each act is in the sentence of its own outcome, and in no other."""
    means = LEVEL_MEANS[level]
    said = {
        GateOutcome.EXECUTE: " by itself.",
        GateOutcome.EXECUTE_AND_TELL: ", and tells you.",
        GateOutcome.ASK_FIRST: " only after you said yes.",
    }
    words = {
        ActKind.START: "starts ordered work",
        ActKind.RESTART: "restarts jobs",
        ActKind.STOP: "stops jobs",
        ActKind.RESOLVE: "answers the questions of jobs",
        ActKind.UPDATE_WORK_ITEM: "moves work items",
    }
    sentences = [f"{one}." for one in means.split(".")]
    for kind, phrase in words.items():
        outcome = MATRIX[kind, level]
        holding = [one for one in sentences if f" {phrase}" in one]
        assert bool(holding) == (outcome in said), kind
        assert all(one.endswith(said[outcome]) for one in holding), kind
    assert ("starts nothing" in means) == (MATRIX[ActKind.START, level] is GateOutcome.SAY_ONLY)
    silence = what_silence_means(AskKind.APPROVE_PLAN, level, inside_scopes=True)
    assert ("do not wait" in means) == approved_at_once(silence, level)


def test_silence_is_told_as_the_rule_has_it() -> None:
    quiet = {"permissions": Permissions(silence_approves=False)}
    assert "within 20 min counts as approved" in silence_on_plans(at(Level.CAUTIOUS))
    assert "Silence approves nothing" in silence_on_plans(at(Level.MODERATE, **quiet))
    assert "without waiting for you" in silence_on_plans(at(Level.FULL, **quiet))
    assert "no plan is made" in silence_on_plans(at(Level.OBSERVE))


def test_limits_end_the_night_and_an_empty_budget_is_no_end() -> None:
    limits = Limits(usd=0, tokens=2_000_000, minutes=90, rounds=1)
    assert will_not(at(Level.CAUTIOUS, limits=limits))[-1] == "Continue after 1 h 30 min, 1 round or 2,000,000 tokens."


def test_paths_tools_and_domains_bind() -> None:
    work = (OrderedWork(project="shop", title="Tidy up", paths=("src/**",)),)
    bound = will_not(at(Level.CAUTIOUS, work=work, do_not_touch=("migrations/**", "data")))
    assert "For “Tidy up”, change anything outside src/**." in bound
    assert "Touch migrations/**, data." in bound
    many = tuple(OrderedWork(project="shop", title=f"Part {number}", paths=("src/**",)) for number in range(40))
    bound = will_not(at(Level.CAUTIOUS, work=(*many, *work)))
    assert [one for one in bound if "src/**" in one] == ["For 41 pieces of work, change anything outside src/**."]
    reading = Permissions(tools=("repo_read", "web_research"), domains=("docs.example",), external=())
    said = will_not(at(Level.CAUTIOUS, permissions=reading))
    assert "Look anything up on the web beyond docs.example." in said
    assert "Write to a repository: the orders do not name repo_write_pr." in said
    assert "Act outside this machine at all." in said
    assert not any("files or" in one for one in said)
    nowhere = Permissions(tools=("web_research",))
    assert "Look anything up on the web." in will_not(at(Level.CAUTIOUS, permissions=nowhere))


def test_a_flag_on_an_ordered_project_is_said_before_signing() -> None:
    seen = facts(projects=(ProjectSeen(name="shop", flags=(Flag.PROTECTED,)),))
    assert "Act on shop: it is protected." in will_not(seen)
    assert "shop is protected: its work will be refused." in worth_knowing(seen)
    assert worth_knowing(facts()) == ()


def test_everything_worth_reading_first_is_said() -> None:
    seen = facts(
        ORDERS.model_copy(update={"work": (*ORDERS.work, OrderedWork(project="bare", title="Look"))}),
        standing=Level.OBSERVE,
        unreviewed=(3,),
        isolation=Isolation.NONE,
        projects=(ProjectSeen(name="shop", uncommitted=2), ProjectSeen(name="bare", has_checks=False)),
    )
    assert worth_knowing(seen) == (
        "Night 3 is not reviewed yet; you can still review it beside this one.",
        tonight_only("cautious", "observe"),
        "shop has 2 uncommitted files; the night will not see them.",
        "bare has no checks, as you chose; nothing will verify its work.",
        "Checks run as programs of yours on this machine; nothing isolates them.",
    )


def weak(isolation: Isolation, level: Level = Level.FULL, agent: str = "claude", **more: Any) -> SheetFacts:
    work = (OrderedWork(project="shop", title="x", agent=agent),)
    return facts(ORDERS.model_copy(update={"work": work, "level": level, **more}), isolation=isolation)


@pytest.mark.parametrize(
    ("isolation", "words", "most"),
    [(Isolation.NONE, "no sandbox", Level.OBSERVE), (Isolation.LANDLOCK, "partial sandbox", Level.CAUTIOUS)],
)
def test_weak_walls_are_told_with_the_level_they_are_worth(isolation: Isolation, words: str, most: Level) -> None:
    (told,) = [one for one in worth_knowing(weak(isolation)) if "This machine has" in one]
    assert words in told
    assert f"claude gets {most} at most" in told
    for enough in (weak(isolation, most), weak(isolation, agent="housekeeper"), weak(Isolation.BUBBLEWRAP)):
        assert not any("This machine has" in one for one in worth_knowing(enough))


def test_the_estimate_tells_the_walls_of_this_machine() -> None:
    told = {one: estimate(weak(one))[-1].text for one in (Isolation.BUBBLEWRAP, Isolation.LANDLOCK, Isolation.NONE)}
    assert told[Isolation.BUBBLEWRAP].startswith("Walled (bubblewrap): a job sees its own checkout")
    assert "applies to every agent" in told[Isolation.BUBBLEWRAP]
    assert "a model gets cautious at most" in told[Isolation.LANDLOCK]
    assert told[Isolation.NONE].startswith(
        "None: a job has no sandbox: it can do everything you can do on this machine"
    )
    assert "a model gets observe at most" in told[Isolation.NONE]


def test_hosts_no_job_can_reach_behind_half_walls_are_told() -> None:
    named: dict[str, Any] = {"permissions": Permissions(tools=("web_research",), domains=("docs.example",))}
    deaf = "No job will reach docs.example: the sandbox of this machine has no network."
    assert deaf in worth_knowing(weak(Isolation.LANDLOCK, **named))
    assert deaf not in worth_knowing(weak(Isolation.BUBBLEWRAP, **named))
    assert deaf not in worth_knowing(weak(Isolation.NONE, **named))


def test_the_estimate_says_what_is_unknown() -> None:
    known = {one.about: one.text for one in estimate(facts())}
    assert "unknown" in known["Time"]
    assert known["Money"].startswith("Nothing: the housekeeper uses no model")
    paid = ORDERS.model_copy(update={"work": (OrderedWork(project="shop", title="x", agent="claude"),)})
    assert "what claude will use of it is unknown" in {one.about: one.text for one in estimate(facts(paid))}["Money"]
    nothing = {one.about: one.text for one in estimate(facts(Orders(goals=("Tidy",))))}
    assert nothing["Work"] == "None is named yet."
    assert nothing["Money"] == "At most $50; how much is unknown until work is named."
    past = (PastNight(minutes=35, rounds=7), PastNight(minutes=65, rounds=9))
    known = {one.about: one.text for one in estimate(facts(past=past))}
    assert "The last 2 nights took 35 min to 1 h 5 min." in known["Time"]
    assert "Earlier nights had 7 to 9." in known["Rounds"]


def test_characters_that_hide_what_is_signed_are_taken_out() -> None:
    orders = ORDERS.model_copy(update={"do_not_touch": ("safe\u202ecod.exe\x1b[2K",)})
    said = " ".join(will_not(facts(orders)))
    assert "safecod.exe" in said


def test_amounts_and_spans_read_well() -> None:
    assert [dollars(micros(one)) for one in (0, 0.25, 5, 1_000_000)] == ["$0", "$0.25", "$5", "$1,000,000"]
    assert [span(one) for one in (0, 0.2, 45, 60, 90)] == ["0 min", "1 min", "45 min", "1 h", "1 h 30 min"]


texts = st.text(max_size=60)
several = st.lists(texts, max_size=4).map(tuple)
some_patterns = st.sampled_from(["src/**", "docs", "*.py", "/a b/", "ünï/?.txt", "[a-z]*", "-x", "#y"])
patterns = st.lists(some_patterns | texts.filter(lambda text: not pattern_fault(text)), max_size=4).map(tuple)
tools = st.lists(st.sampled_from(["Read", "Bash", "Bash(npm run *)", "mcp__db__read"]), max_size=3).map(tuple)
zones = st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))])
orders_given = st.builds(
    Orders,
    level=st.sampled_from(Level),
    goals=several,
    success_criteria=several,
    notes=texts,
    work=st.lists(
        st.builds(
            OrderedWork,
            project=texts.filter(bool),
            title=texts,
            checks=several,
            paths=patterns,
            agent=texts,
            tools=tools,
        ),
        max_size=3,
    ).map(tuple),
    limits=st.builds(
        Limits,
        usd=st.floats(0, 1_000_000),
        tokens=st.integers(0, 10**12),
        minutes=st.integers(1, 100_000),
        rounds=st.integers(1, 1_000_000),
        leave_percent=st.integers(1, 100),
        leave_at=st.none() | st.times(),
    )
    | st.builds(Limits, leave_percent=st.integers(0, 100)),
    permissions=st.builds(
        Permissions, tools=several, domains=several, external=several, silence_approves=st.booleans()
    ),
    do_not_touch=patterns,
    until=st.none() | st.datetimes(min_value=datetime(2000, 1, 1), timezones=zones),  # noqa: DTZ001  zones follow
)


@given(orders_given)
def test_orders_written_as_text_are_read_back_the_same(orders: Orders) -> None:
    assert read_orders(orders_text(orders)) == orders


@given(orders_given, st.sets(st.sampled_from(LINES)).map(lambda some: tuple(one for one in LINES if one in some)))
def test_a_line_that_no_person_wrote_stays_a_default_in_the_text(orders: Orders, unsaid: tuple[str, ...]) -> None:
    again = read_orders(orders_text(orders.model_copy(update={"unsaid": unsaid})))
    assert again.left_unsaid() == unsaid
    assert sheet_changes(orders, orders.model_copy(update={"unsaid": unsaid})) or not unsaid


def test_a_level_is_for_one_night_and_more_than_was_earned_counts_as_forced() -> None:
    """RULES 1."""
    stays = "The level full is for this night only; the standing level stays cautious."
    assert (
        tonight_only("full", "cautious") == f"{stays} Earlier nights have not earned full yet, so it counts as forced."
    )
    assert tonight_only("observe", "full").endswith("the standing level stays full.")
    assert not any("this night only" in one for one in worth_knowing(facts()))


def test_protected_paths_of_a_project_are_among_what_will_not_happen() -> None:
    seen = facts(projects=(ProjectSeen(name="shop", do_not_touch=("migrations/**",)),))
    assert "Touch migrations/** in shop." in will_not(seen)
