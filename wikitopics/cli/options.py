"""Options of several commands, and the settings of a trainer as options of the command line."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from wikitopics.model import kinds
from wikitopics.option import Option
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.options import KEPT, MODEL, OUTSIDE, RUN, SHARED, SOURCE, VOCAB
from wikitopics.session.paths import DEFAULT_SESSION, is_session_name, session_folder, session_path

if TYPE_CHECKING:
    from wikitopics.session.storage.reader import SessionReader

Function = TypeVar("Function", bound=Callable[..., Any])
Answer = TypeVar("Answer")


def reading(session: str | Path) -> SessionReader:
    """The session of this name, or at this path, open for reading."""
    from wikitopics.session.storage.reader import SessionReader

    if isinstance(session, str):
        session = session_path(session)
    return SessionReader(session)


def session_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The names in the session folder that begin with what was typed."""
    names = (path.stem for path in session_folder().glob("[!.]*.db"))
    return sorted(name for name in names if name.startswith(begun) and is_session_name(name))


def model_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The models of the session that the command line names."""
    names = _of_session(ctx, lambda reader: reader.models())
    return [name for name in names if name.startswith(begun)]


def topic_numbers(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The model's topics, most prevalent first, each with its name.

    Names have no commas here, since fish cuts the help at a comma.
    """
    model = ctx.params.get("model")
    rows = _of_session(ctx, lambda reader: reader.topics(reader.model_named(model)))
    completions = []
    for row in sorted(rows, key=lambda row: -row.share):
        number = str(row.topic)
        if number.startswith(begun):
            name = visible(row.name.replace(",", ""))
            completions.append(CompletionItem(number, help=name))
    return completions


def _of_session(
    ctx: click.Context, ask: Callable[[SessionReader], Sequence[Answer]]
) -> Sequence[Answer]:
    """What the session of an unfinished command line answers; empty if it cannot be read."""
    try:
        with reading(ctx.params.get("session") or DEFAULT_SESSION) as reader:
            return ask(reader)
    except SessionError:
        return ()


session_option = click.option(
    "--session",
    default=DEFAULT_SESSION,
    metavar="NAME",
    show_default=True,
    shell_complete=session_names,
    help="The session: a name in the session folder, or a path with a '/' or ending in .db.",
)

log_option = click.option(
    "--log",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Also append all messages, with the time, to FILE.",
)

progress_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Progress as JSON lines on standard output.",
)

model_option = click.option(
    "--model",
    metavar="NAME",
    shell_complete=model_names,
    help="The model (default: the session's first).",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")


def of_model(command: Function) -> Function:
    """The options of a command about one model of a session: which session, and which model."""
    return session_option(model_option(command))


def refuse_early_options(ctx: click.Context) -> None:
    """Refuse an option before the name of a subcommand, which would never receive it."""
    for option in ctx.command.get_params(ctx):
        if ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE:
            flag = option.opts[0]
            raise click.UsageError(
                f"put {flag} after the command: {ctx.command_path} {ctx.invoked_subcommand} {flag} "
                "…"
            )


class OptionType(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions of click
    """The type of an option's value, which is checked by the option's own rules.

    words: all possible values, if there are few
    """

    name = "value"

    def __init__(
        self, option: Option[Any], words: Callable[[], Sequence[str]] | None = None
    ) -> None:
        self.option = option
        self.words = words or (lambda: option.choices)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the value here, so that click names the option in its message."""
        try:
            return self.option.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete file names, or the accepted words."""
        if self.option.path:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(word) for word in self.words() if word.startswith(incomplete)]


def whole(least: int, most: float = math.inf) -> OptionType:
    """A whole number, refused in the same words as the settings of a trainer."""
    return OptionType(Option(int, "number", "", least=least, most=most))


limit_option = click.option(
    "--limit",
    metavar="N",
    type=whole(1, 1_000_000),
    default=20,
    show_default=True,
    help="Articles to list.",
)


found_option = click.option(
    "--limit",
    metavar="N",
    type=whole(1, 1_000_000),
    default=10,
    show_default=True,
    help="Topics, and documents, to list.",
)


def click_option(option: Option[Any], *, help: str = "") -> click.Option:
    """A click option. Its value is None if it is not given, so that given options can be told
    apart."""
    if not help:
        help = option.help
        is_told = "(default:" in help
        if option.default not in (None, "") and option.of is not bool and not is_told:
            help = f"{help.removesuffix('.')} (default: {option.default})."
        if option.of is tuple:
            help = f"{help} May be given several times."
    if option.of is bool:
        return click.Option([option.flag, option.name], is_flag=True, default=None, help=help)
    metavar = option.metavar
    if not metavar:
        metavar = f"[{'|'.join(option.choices)}]" if option.choices else "N"
    return click.Option(
        [option.flag, option.name],
        metavar=metavar,
        type=OptionType(option),
        multiple=option.of is tuple,
        help=help,
    )


def take(option: Option[Any], *, help: str = "") -> Callable[[Function], Function]:
    """Add one setting to a command that takes only a few."""
    parameter = click_option(option, help=help)

    def decorate(command: Function) -> Function:
        command.__dict__.setdefault("__click_params__", []).append(parameter)
        return command

    return decorate


class Command(click.Command):
    """A command whose docstring ends with examples, which its help shows last. A usage error names
    the help of the command that it is about."""

    def __init__(self, *, help: str | None = None, epilog: str | None = None, **more: Any) -> None:
        text, begins_with, examples = inspect.cleandoc(help or "").partition("\n\nExample")
        epilog = epilog or ""
        if begins_with:
            epilog += f"\b\nExample{examples}"  # click keeps the lines of what follows "\b"
        super().__init__(help=text, epilog=epilog, **more)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # it has none if the value of an option is missing
            raise


class Group(Command, click.Group):
    """A group of such commands."""

    command_class = Command


Groups = list[tuple[str, list[click.Parameter]]]
MOST_USED = (
    "session",
    "source",
    "lang",
    "contact",
    "texts",
    "text_column",
    "model",
    "topics",
    "articles",
    "hours",
)
"""The settings that a help text lists first."""


class SettingsCommand(Command):
    """A command that takes all settings of a trainer.

    The options of a source from another package are among them once ``--source`` names it.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        groups: Groups = []
        try:
            if self.takes_settings(args):
                groups = setting_groups(_source_in(args))
        except BadUsage as error:
            raise click.BadParameter(str(error), ctx, param_hint=f"'{SOURCE.flag}'") from None
        ctx.meta[f"settings of {self.name}"] = groups
        return super().parse_args(ctx, args)

    def takes_settings(self, args: Sequence[str]) -> bool:
        """Whether these words may hold settings; if not, the settings need not be loaded."""
        return True

    def _groups(self, ctx: click.Context) -> Groups:
        """The settings that the words being parsed need; all if there are no words."""
        groups: Groups | None = ctx.meta.get(f"settings of {self.name}")
        return setting_groups() if groups is None else groups

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        settings = [option for _, options in self._groups(ctx) for option in options]
        return [*settings, *super().get_params(ctx)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = [*self._groups(ctx), ("Options", super().get_params(ctx))]
        by_name = {option.name: option for _, options in groups for option in options}
        first = [by_name[name] for name in MOST_USED if name in by_name]
        rest = [
            (title, [option for option in options if option not in first])
            for title, options in groups
        ]
        for title, options in [("Most used", first), *rest]:
            records = [option.get_help_record(ctx) for option in options]
            if any(records):
                with formatter.section(title):
                    formatter.write_dl([record for record in records if record is not None])


def setting_groups(source: str | None = None) -> Groups:
    """Every setting of a trainer, in the order of the help; with those of a ``source`` of another
    package."""
    shown = [kind for kind in map(sources.load, sources.BUILT_IN) if not kind.command]
    if source and source not in [kind.name for kind in shown]:
        kind = sources.load(source)
        if kind.command:
            raise BadUsage(f"{kind.name} has its own command: `wikitopics {kind.command}`")
        shown.append(kind)
    options = {option.name: option for kind in shown for option in kind.options}
    source_option = click_option(SOURCE)
    source_option.type = OptionType(SOURCE, _source_names)
    source_option.metavar = f"[{'|'.join(kind.name for kind in shown)}]"
    spec_option = click_option(MODEL)
    spec_option.type = OptionType(MODEL, kinds.names)

    of_sources = [click_option(option) for option in options.values()]
    of_models = [click_option(option) for option in SHARED]
    kept: list[click.Parameter] = [click_option(option) for option in KEPT]
    of_run: list[click.Parameter] = [click_option(option) for option in (*RUN, *OUTSIDE)]
    return [
        ("Source", [source_option, *of_sources, click_option(VOCAB)]),
        ("Models", [spec_option, *of_models]),
        ("Fixed for the session", kept),
        ("This run", of_run),
    ]


def _source_names() -> list[str]:
    return [name for name in sources.names() if not sources.kind_named(name).command]


def _source_in(args: Sequence[str]) -> str | None:
    """The source that these words name."""
    source = None
    for word, next_word in pairwise([*args, ""]):
        if word == "--source":
            source = next_word
        elif word.startswith("--source="):
            source = word.removeprefix("--source=")
    return source
