"""Incidents for players who see briefs and pages only, one shell command a call, with a context for each seat.

    python recipes/blind_play.py deal FOLDER ENV TIER COUNT [first index of the test split]
    python recipes/blind_play.py look FOLDER/N.json [SEAT]
    python recipes/blind_play.py call FOLDER/N.json [SEAT] 'TOOL' '{"argument": "value"}'
    python recipes/blind_play.py tools FOLDER/N.json SEAT
    python recipes/blind_play.py waiting FOLDER SEAT
    python recipes/blind_play.py score FOLDER

`deal` draws scenarios in turn and names none. A player looks, calls, and sees what its seat sees: with SEAT nothing but
that seat, and `look` waits up to four minutes for its turn; without one whichever seat acts. A game is the list of its
calls, played again each time. `tools` shows once more what a seat was told at first. `waiting` names the first of
`AT_ONCE` unfinished games in which a seat has the turn, so that four players keep each other busy. `score` prints how
every game ended, beside policies that play the same.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

from warroom import Chat, play, policy_set
from warroom.envs import suite

PATIENCE, PAUSE = 240.0, 2.0
"""Seconds that `look` waits for a turn, and between two looks at the file."""
RIVALS = ("heuristic", "expert")
AT_ONCE = 6
"""Games that go on side by side."""


def deal(folder: Path, env: str, tier: str, count: int, first: int) -> None:
    """Write a file for each game, numbered on from those that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    scenarios, dealt = suite(env, "full"), len(list(folder.glob("*.json")))
    for k in range(count):
        name = scenarios[(7 * (first + k)) % len(scenarios)]
        game = {"spec": f"{name}@{tier}#test:{first + k}", "calls": []}
        (folder / f"{dealt + k + 1}.json").write_text(json.dumps(game))


def replayed(game: Mapping[str, object]) -> tuple[Chat, str]:
    """The incident as it stands, and the answer to the last call."""
    chat, answer = Chat(str(game["spec"])), ""
    chat.begin()
    calls = game["calls"]
    assert isinstance(calls, list)
    for name, arguments in calls:
        answer = chat.call(name, arguments).text
    return chat, answer


def look(file: Path, seat: str | None) -> None:
    """Print what a seat sees once it has the turn: the first time its brief and tools too."""
    until = time.monotonic() + PATIENCE
    while True:
        game = json.loads(file.read_text())
        chat, answer = replayed(game)
        if chat.done or seat in (None, chat.seat):
            break
        if time.monotonic() > until:
            print(f"It is {chat.seat}'s turn. Look again.")
            return
        time.sleep(PAUSE)
    if chat.done:
        print(answer or "The incident is over.")
        return
    with held(file):
        game = json.loads(file.read_text())
        seen = game.get("seen", [])
        save(file, game | {"seen": sorted({*seen, chat.seat})})
    if chat.seat not in seen:
        print("Your tools:", *map(json.dumps, chat.tools), sep="\n")
    print(f"[you are {chat.seat}]\n{chat.text}")


@contextmanager
def held(file: Path) -> Iterator[None]:
    """A block in which nobody else writes to a game."""
    with file.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        yield


def save(file: Path, game: Mapping[str, object]) -> None:
    """Replace a game's file as a whole: other players read it at any time."""
    whole = file.with_suffix(".new")
    whole.write_text(json.dumps(game))
    whole.replace(file)


def tools(file: Path, seat: str) -> None:
    """Print what a seat is told before its first turn, and its tools."""
    brief = Chat(json.loads(file.read_text())["spec"]).session.env.brief(seat)
    print(brief.render(), "Your tools:", *map(json.dumps, brief.tools), sep="\n")


def call(file: Path, seat: str | None, name: str, arguments: str) -> None:
    """Play one call of the acting seat, keep it, and print what came of it."""
    with held(file):
        game = json.loads(file.read_text())
        chat, _ = replayed(game)
        if chat.done:
            print("The incident is over.")
            return
        if seat not in (None, chat.seat):
            print(f"Not played: it is {chat.seat}'s turn.")
            return
        acting = chat.seat
        result = chat.call(name, json.loads(arguments))
        game["calls"].append([name, json.loads(arguments)])
        save(file, game)
    if result.refused and chat.seat != acting and not chat.done:
        print("That call was refused and has cost the turn; your next page says why.")
    if chat.done or chat.seat == acting or seat is None:
        print(f"[you are {chat.seat}]\n{result.text}")
    else:
        print(f"Done. It is {chat.seat}'s turn now: look, and you will wait for yours.")


def waiting(folder: Path, seat: str) -> None:
    """Print the game in which a seat should act next, once there is one."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        going = []
        for file in _games(folder):
            chat, _ = replayed(json.loads(file.read_text()))
            going += [] if chat.done else [(file, chat.seat)]
            if len(going) == AT_ONCE:
                break
        mine = [file for file, acting in going if acting == seat]
        if mine or not going:
            print(mine[0] if mine else "Every incident is over.")
            return
        time.sleep(PAUSE)
    print("Others are still at work. Ask again.")


def _games(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda path: int(path.stem))


def score(folder: Path) -> None:
    """Print one line for each game: spec, score, calls, and the scores of the rivals."""
    for file in _games(folder):
        game = json.loads(file.read_text())
        chat, _ = replayed(game)
        env, spec = chat.session.env, str(game["spec"])
        rivals = {name: round(play(spec, policy_set(env.name, name)).score, 2) for name in RIVALS}
        state = "over" if chat.done else "open"
        print(file.stem, spec, state, f"{env.score():.2f}" if chat.done else "-", f"{len(game['calls'])} calls", rivals)


def main(words: Sequence[str]) -> None:
    """Carry out one command."""
    match words:
        case ["deal", folder, env, tier, count, *first]:
            deal(Path(folder), env, tier, int(count), int(first[0]) if first else 0)
        case ["look", file, *seat]:
            look(Path(file), seat[0] if seat else None)
        case ["call", file, name, arguments]:
            call(Path(file), None, name, arguments)
        case ["call", file, seat, name, arguments]:
            call(Path(file), seat, name, arguments)
        case ["tools", file, seat]:
            tools(Path(file), seat)
        case ["waiting", folder, seat]:
            waiting(Path(folder), seat)
        case ["score", folder]:
            score(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
