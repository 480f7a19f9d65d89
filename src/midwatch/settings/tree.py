"""The whole tree of settings; DESIGN 11 says where values come from."""

from midwatch.settings.channels import Channels
from midwatch.settings.crew import Agents, Prices
from midwatch.settings.forges import Forges
from midwatch.settings.house import Asks, Database, History, Notices, Preflight, Review, Scores, Secrets, Server
from midwatch.settings.night import Autonomous, Brain, Checkins, Council, Gate, Limits, Projects, Rounds
from midwatch.settings.section import Section
from midwatch.settings.work import Execution, Jobs, Planning, Stack, Triggers
from midwatch.settings.workshop import Sandbox


class Settings(Section):
    """Everything a person may tune, section by section, with RULES' numbers as defaults."""

    autonomous: Autonomous = Autonomous()
    brain: Brain = Brain()
    rounds: Rounds = Rounds()
    gate: Gate = Gate()
    council: Council = Council()
    limits: Limits = Limits()
    asks: Asks = Asks()
    notices: Notices = Notices()
    checkins: Checkins = Checkins()
    jobs: Jobs = Jobs()
    planning: Planning = Planning()
    execution: Execution = Execution()
    stack: Stack = Stack()
    sandbox: Sandbox = Sandbox()
    preflight: Preflight = Preflight()
    triggers: Triggers = Triggers()
    projects: Projects = Projects()
    review: Review = Review()
    scores: Scores = Scores()
    history: History = History()
    database: Database = Database()
    server: Server = Server()
    secrets: Secrets = Secrets()
    agents: Agents = Agents()
    prices: Prices = Prices()
    channels: Channels = Channels()
    forges: Forges = Forges()
