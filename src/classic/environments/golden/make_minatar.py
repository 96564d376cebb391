"""Writes minatar.json beside this file: what MinAtar (github.com/kenjyoung/MinAtar at 4241f246) does, for the tests of parity.

    git clone https://github.com/kenjyoung/MinAtar && pip install numpy
    PYTHONPATH=MinAtar python src/classic/environments/golden/make_minatar.py

Random numbers come from `default_rng(seed)`, one draw after another, so the tests can draw them again. A new episode begins with
the action `none` as the last one, which the reference carries over. Of each step are stored the action, the reward, whether the episode ended, and
16 bits of a sum over the cells that are set in the observation. Most actions are chosen with a purpose, so that play gets far.
"""

import base64
import copy
import importlib
import json
import pathlib
import sys
import zlib

import numpy as np

NONE, LEFT, UP, RIGHT, DOWN, FIRE = range(6)


def pack(values, dtype):
    return base64.b64encode(zlib.compress(np.ascontiguousarray(values, dtype=dtype).tobytes(), 9)).decode()


class Source:
    """The calls of a RandomState that the games make, answered by single draws of a Generator."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def rand(self, count=None):
        if count is None:
            return self.generator.random()
        return np.array([self.generator.random() for _ in range(count)])

    def randint(self, low, high=None, size=None):
        if high is None:
            low, high = 0, low
        if size is None:
            return low + int(self.generator.integers(high - low))
        return np.array([low + int(self.generator.integers(high - low)) for _ in range(size)])


def towards(x, target):
    return LEFT if target < x else RIGHT if target > x else NONE


def breakout(game, rng):
    """Where the ball will be, if no brick is in the way."""
    x = game.ball_x + (1 if game.ball_dir in (1, 2) else -1)
    return towards(game.pos, max(0, min(9, x)))


def freeway(game, rng):
    return UP


def asterix(game, rng):
    """Out of the row of an enemy, else towards a treasure."""
    here = game.entities[game.player_y - 1]
    if here is not None and not here[3]:
        return UP if game.player_y > 4 else DOWN
    gold = [e for e in game.entities if e is not None and e[3]]
    if not gold:
        return NONE
    goal = gold[0]
    if goal[1] != game.player_y:
        return DOWN if goal[1] > game.player_y else UP
    return towards(game.player_x, goal[0])


def space_invaders(game, rng):
    """Shoots, else goes to the nearest column with aliens."""
    if game.shot_timer == 0:
        return FIRE
    columns = np.flatnonzero(game.alien_map.any(axis=0))
    return towards(game.pos, columns[np.argmin(abs(columns - game.pos))])


def seaquest(game, rng):
    """Takes divers, surfaces when oxygen is low or the boat is full, shoots at enemies of its row."""
    up = game.oxygen < 60 and game.diver_count != 0 or game.diver_count == 6
    danger = [e for e in game.e_fish + game.e_subs + game.e_bullets if e[1] == game.sub_y and abs(e[0] - game.sub_x) < 4]
    if danger:
        facing = (danger[0][0] > game.sub_x) == game.sub_or
        if game.shot_timer == 0 and facing:
            return FIRE
        if not facing:
            return towards(game.sub_x, danger[0][0])
        return UP if up or game.sub_y > 4 else DOWN
    if up:
        return UP
    if game.divers:
        x, y = game.divers[0][:2]
        if y != game.sub_y:
            return DOWN if y > game.sub_y else UP if game.sub_y > 1 else NONE
        return towards(game.sub_x, x)
    return DOWN if game.sub_y < 4 else NONE


POLICIES = dict(asterix=asterix, breakout=breakout, freeway=freeway, seaquest=seaquest, space_invaders=space_invaders)


def survives(game, policy, action, horizon):
    """For how many steps, at most `horizon`, the policy lives after an action."""
    game = copy.deepcopy(game)
    game.random = np.random.RandomState(0)
    for t in range(horizon):
        if game.act(action)[1]:
            return t
        action = policy(game, None)
    return horizon


def purposeful(game, policy, rng, horizon=12):
    """The action of the policy, or a longer life where that one leads to an end soon."""
    best = policy(game, rng)
    longest = survives(game, policy, best, horizon)
    for action in range(6):
        if longest == horizon:
            break
        found = survives(game, policy, action, horizon)
        if found > longest:
            best, longest = action, found
    return best


def digest(state):
    """Of [10, 10, planes]: a sum over the cells that are set, in the order of [planes, 10, 10]."""
    total = 0
    for index in np.flatnonzero(np.transpose(state, (2, 0, 1))):
        total = (total * 31 + int(index) + 1) % 65521
    return total


def play(name, seed, steps, stickiness, ramping, purpose):
    module = importlib.import_module(f"minatar.environments.{name}")
    source, rng = Source(seed), np.random.default_rng(seed + 1000)
    game = module.Env(ramping=ramping)
    game.random = source
    game.reset()
    last = chosen = NONE
    digests, actions, rewards, ends, levels = [digest(game.state())], "", [], "", 0
    for _ in range(steps):
        if rng.random() < purpose:
            chosen = purposeful(game, POLICIES[name], rng)
        elif rng.random() < 0.5:
            chosen = int(rng.integers(6))
        actions += str(chosen)
        if source.rand() >= stickiness:
            last = chosen
        reward, end = game.act(last)
        rewards.append(reward)
        ends += "1" if end else "0"
        digests.append(digest(game.state()))
        levels = max(levels, game.difficulty_ramp() or 0)
        if end:
            game.reset()
            last = NONE
            digests.append(digest(game.state()))
    print(name, "reward", sum(rewards), "most", max(rewards), "episodes", ends.count("1"), "level", levels, file=sys.stderr)
    return {"seed": seed, "stickiness": stickiness, "ramping": int(ramping), "actions": pack(list(map(int, actions)), "u1"),
            "digests": pack(digests, "<u2"), "rewards": pack(rewards, "u1"), "ends": pack(list(map(int, ends)), "u1")}  # fmt: skip


if __name__ == "__main__":
    content = {
        name.replace("_", "-"): [
            play(name, 1, 4000, 0.1, True, 0.9),
            play(name, 2, 2000, 0.0, True, 1.0),
            # Our Space Invaders always ramps: random play, which finds what a feature changes, clears no wave.
            play(name, 3, 1000, 0.25, name == "space_invaders", 0.8),
            play(name, 4, 1000, 0.1, True, 0.0),
        ]
        for name in POLICIES
    }
    path = pathlib.Path(__file__).parent / "minatar.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(path.name, path.stat().st_size, "bytes", file=sys.stderr)
