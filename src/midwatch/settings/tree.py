"""The whole tree of settings."""

from midwatch.settings.named_tables import AgentsSettings, ChannelsSettings, ForgesSettings, PricesSettings
from midwatch.settings.night import (
    AutonomousSettings,
    BrainSettings,
    CeilingsSettings,
    CheckinsSettings,
    CouncilSettings,
    GateSettings,
    LimitsSettings,
    ProjectsSettings,
    RoundsSettings,
)
from midwatch.settings.people import AsksSettings, NoticesSettings, PreflightSettings, ReviewSettings, ScoresSettings
from midwatch.settings.section import SettingsSection
from midwatch.settings.server import DatabaseSettings, HistorySettings, SecretsSettings, ServerSettings
from midwatch.settings.work import (
    ExecutionSettings,
    JobsSettings,
    PlanningSettings,
    SandboxSettings,
    StackSettings,
    TriggersSettings,
)


class Settings(SettingsSection):
    """Everything a person may tune, section by section."""

    autonomous: AutonomousSettings = AutonomousSettings()
    brain: BrainSettings = BrainSettings()
    rounds: RoundsSettings = RoundsSettings()
    gate: GateSettings = GateSettings()
    council: CouncilSettings = CouncilSettings()
    limits: LimitsSettings = LimitsSettings()
    ceilings: CeilingsSettings = CeilingsSettings()
    asks: AsksSettings = AsksSettings()
    notices: NoticesSettings = NoticesSettings()
    checkins: CheckinsSettings = CheckinsSettings()
    jobs: JobsSettings = JobsSettings()
    planning: PlanningSettings = PlanningSettings()
    execution: ExecutionSettings = ExecutionSettings()
    stack: StackSettings = StackSettings()
    sandbox: SandboxSettings = SandboxSettings()
    preflight: PreflightSettings = PreflightSettings()
    triggers: TriggersSettings = TriggersSettings()
    projects: ProjectsSettings = ProjectsSettings()
    review: ReviewSettings = ReviewSettings()
    scores: ScoresSettings = ScoresSettings()
    history: HistorySettings = HistorySettings()
    database: DatabaseSettings = DatabaseSettings()
    server: ServerSettings = ServerSettings()
    secrets: SecretsSettings = SecretsSettings()
    agents: AgentsSettings = AgentsSettings()
    prices: PricesSettings = PricesSettings()
    channels: ChannelsSettings = ChannelsSettings()
    forges: ForgesSettings = ForgesSettings()
