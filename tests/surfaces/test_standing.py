"""What stays from night to night, typed: protected paths of a project, and the standing level beside tonight's."""

from tests.nights.house import sample_repository
from tests.surfaces.person import ORDERS, a_person


def test_protected_paths_and_the_standing_level_are_on_every_sheet() -> None:
    """A6, RULES 1."""
    with a_person() as person:
        sample_repository(person.repo)
        person.types("project", "add", "repo", "--protect-path", "secrets/")
        assert "never touched: secrets/" in person.types("project", "show", "repo").out
        person.types("project", "change", "repo", "--protect-path", "migrations/**", "--protect-path", "secrets/")
        sheet = person.types("brief", "--file", "-", text=ORDERS.format(level="full", title="Tidy up")).out
        assert "never touches in repo: migrations/**, secrets/" in sheet
        assert "The level full is for this night only; the standing level stays observe." in sheet
        assert person.types("project", "show", "repo", "--json").json["do_not_touch"] == ["migrations/**", "secrets/"]
        person.types("start", "--no-preflight")
        told = person.types("level").out
        assert "Level observe." in told
        assert "This night runs at full; the standing level is observe." in told
        person.types("project", "change", "repo", "--protect-path", "")
        assert person.types("project", "show", "repo", "--json").json["do_not_touch"] == []


def test_settings_that_have_no_effect_yet_are_listed_only_on_request() -> None:
    """O13: they stay valid, one that a person set is shown, and the one that never worked is gone."""
    with a_person() as person:
        usual = {row["key"]: row for row in person.types("settings", "--json").json}
        every = {row["key"]: row for row in person.types("settings", "--all", "--json").json}
        hidden = every.keys() - usual.keys()
        assert hidden == {key for key, row in every.items() if row["description"].endswith("Has no effect yet.")}
        assert "brain.model" in hidden
        assert "no effect yet" not in person.types("settings").out
        assert "Has no effect yet." in person.types("settings", "brain.model").out
        person.types("settings", "propose", "brain.model=other")
        person.types("settings", "apply", "1")
        assert "brain.model = other" in person.types("settings").out
        refused = person.types("settings", "propose", "jobs.max_per_project=2", expect=2)
        assert "There is no setting 'jobs.max_per_project'." in refused.err


def test_a_running_night_is_lowered_with_the_standing_level_and_never_raised() -> None:
    """C2: a night runs at its signed level; the standing level can only take from it."""
    with a_person() as person:
        person.adds_repo()
        person.types("level", "moderate", "--force", "--reason", "I watched it")
        person.orders(level="cautious")
        person.types("start", "--no-preflight")
        raised = person.types("level", "full", "--force", "--reason", "I trust it").out
        assert "Level full." in raised
        assert "This night runs at cautious; the standing level is full." in raised
        lowered = person.types("level", "observe").out
        assert "Level observe." in lowered
        assert "This night runs at" not in lowered
        again = person.types("level", "moderate", "--force", "--reason", "I watched it again").out
        assert "This night runs at observe; the standing level is moderate." in again
        with person.watching() as watch:
            kept = "The standing level changed from moderate to full (forced): I trust it"
            assert f"{kept}; a night that runs keeps its signed level" in watch.until("from moderate to full")
            assert "from full to observe; night 1 is lowered to observe" in watch.until("from full to observe")
