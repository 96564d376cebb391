"""Writes classic.json and toy_text.json beside this file: what Gymnasium 1.3 does, for the tests of parity.

    pip install gymnasium==1.3.0 numpy && python src/worlds/golden/make_gymnasium.py

Arrays are little-endian, deflated and base64-encoded. First states keep every bit; the thousands of numbers that are compared
within 1e-12 are whole multiples of 1e-13, first bytes of all first, which takes two thirds of the room. Inputs that can be drawn again
from NumPy's generator with the same seed are not stored.
"""

import base64
import hashlib
import inspect
import json
import pathlib
import sys
import textwrap
import warnings
import zlib

import gymnasium
import numpy as np
from gymnasium.envs.classic_control import acrobot, cartpole, continuous_mountain_car, mountain_car, pendulum
from gymnasium.envs.toy_text import blackjack, cliffwalking, frozen_lake, taxi

assert gymnasium.__version__ == "1.3.0", gymnasium.__version__
gymnasium.logger.min_level = gymnasium.logger.ERROR
warnings.simplefilter("ignore")


def pack(values, dtype="<f8"):
    return base64.b64encode(zlib.compress(np.ascontiguousarray(values, dtype=dtype).tobytes(), 9)).decode()


def pack_rounded(values):
    """Multiples of 1e-13, as 8-byte integers: the lowest bytes of all numbers, then the next ones ..."""
    whole = np.round(np.asarray(values, dtype=np.float64).ravel() * 1e13).astype("<i8")
    return base64.b64encode(zlib.compress(whole.view("u1").reshape(-1, 8).T.tobytes(), 9)).decode()


def with_source(method, globals_of, *replacements):
    """The method with constants that are written into its body made attributes of its object."""
    source = textwrap.dedent(inspect.getsource(method))
    for old, new in replacements:
        assert old in source, old
        source = source.replace(old, new)
    scope = dict(vars(globals_of))
    exec(source, scope)
    return scope[method.__name__]


class Acrobot(acrobot.AcrobotEnv):
    gravity = 9.8
    _dsdt = with_source(acrobot.AcrobotEnv._dsdt, acrobot, ("g = 9.8", "g = self.gravity"))

    def set_context(self, gravity, length1, length2, mass1, mass2, center1, center2, inertia, torque):
        self.gravity = gravity
        self.LINK_LENGTH_1, self.LINK_LENGTH_2 = length1, length2
        self.LINK_MASS_1, self.LINK_MASS_2 = mass1, mass2
        self.LINK_COM_POS_1, self.LINK_COM_POS_2 = center1 * length1, center2 * length2
        self.LINK_MOI = inertia
        self.AVAIL_TORQUE = [-torque, 0.0, torque]


class CartPole(cartpole.CartPoleEnv):
    def set_context(self, gravity, cart, pole, half_length, force):
        self.gravity, self.masscart, self.masspole, self.length, self.force_mag = gravity, cart, pole, half_length, force
        self.total_mass = pole + cart
        self.polemass_length = pole * half_length


class MountainCar(mountain_car.MountainCarEnv):
    def set_context(self, force, gravity, max_speed, goal, goal_velocity):
        self.force, self.gravity, self.max_speed = force, gravity, max_speed
        self.goal_position, self.goal_velocity = goal, goal_velocity


class MountainCarContinuous(continuous_mountain_car.Continuous_MountainCarEnv):
    gravity = 0.0025
    effort = 0.1
    step = with_source(
        continuous_mountain_car.Continuous_MountainCarEnv.step,
        continuous_mountain_car,
        ("0.0025", "self.gravity"),
        ("* 0.1", "* self.effort"),
    )

    def set_context(self, power, gravity, max_speed, goal, goal_velocity, effort):
        self.power, self.gravity, self.max_speed = power, gravity, max_speed
        self.goal_position, self.goal_velocity, self.effort = goal, goal_velocity, effort


class Pendulum(pendulum.PendulumEnv):
    def set_context(self, gravity, mass, length, max_torque, max_speed, dt):
        self.g, self.m, self.l = gravity, mass, length
        self.max_torque, self.max_speed, self.dt = max_torque, max_speed, dt


# For each: its class, the dtype of its state, the box of random states, the actions (a count or an upper bound), and the
# ranges of the context features that the reference can be given.
CLASSIC = {
    "cartpole": (CartPole, np.float64, [2.5, 3.0, 0.25, 3.0], 2,
                 [(1, 25), (0.1, 5), (0.01, 1), (0.1, 2), (2, 25)]),
    "acrobot": (Acrobot, np.float64, [np.pi, np.pi, 4 * np.pi, 9 * np.pi], 3,
                [(5, 15), (0.75, 1.5), (0.75, 1.5), (0.75, 1.5), (0.75, 1.5), (0.4, 0.6), (0.4, 0.6), (0.75, 1.5), (0.75, 1.5)]),
    "mountain-car": (MountainCar, np.float64, [1.2, 0.07], 3,
                     [(0.0005, 0.002), (0.0015, 0.0035), (0.04, 0.07), (0.2, 0.6), (0, 0.04)]),
    "mountain-car-continuous": (MountainCarContinuous, np.float32, [1.2, 0.07], 1.5,
                                [(0.0007, 0.003), (0.0015, 0.0035), (0.04, 0.07), (0.2, 0.6), (0, 0.04), (0, 0.5)]),
    "pendulum": (Pendulum, np.float64, [10.0, 8.0], 2.5,
                 [(1, 20), (0.25, 2), (0.25, 2), (0.5, 2), (4, 8), (0.01, 0.1)]),
}  # fmt: skip


def random_action(rng, actions):
    if isinstance(actions, int):
        return int(rng.integers(actions))
    return np.array([rng.uniform(-actions, actions)], dtype=np.float32)


def set_state(env, state, dtype):
    env.state = tuple(state) if isinstance(env, cartpole.CartPoleEnv) else np.array(state, dtype=dtype)


def random_steps(name, count, seed, contexts):
    """One step from each of many random states; with contexts, a new one every eighth step."""
    make, dtype, bounds, actions, ranges = CLASSIC[name]
    rng = np.random.default_rng(seed)
    env = make()
    states, rewards, terminated, misrounded = [], [], "", []
    for k in range(count):
        if contexts and k % 8 == 0:
            env.set_context(*(rng.uniform(low, high) for low, high in ranges))
        state = [rng.uniform(-bound, bound) for bound in bounds]
        if name.startswith("mountain-car"):
            state[0] = max(min(state[0], 0.6), -1.2)
        action = random_action(rng, actions)
        env.reset(seed=0)
        set_state(env, state, dtype)
        _, reward, end, _, _ = env.step(action)
        states.append(np.asarray(env.state, dtype=np.float64))
        rewards.append(reward)
        terminated += "1" if end else "0"
        if name == "pendulum":  # C's powf, by which NumPy squares a single, is off by the last bit now and then
            torque = np.clip(action, -env.max_torque, env.max_torque)[0]
            if torque**2 != np.float32(np.float64(torque) * np.float64(torque)):
                misrounded.append(k)
    return {"count": count, "seed": seed, "bounds": bounds, "actions": actions,
            "ranges": ranges if contexts else [],
            "states": pack_rounded(states), "rewards": pack_rounded(rewards), "terminated": terminated,
            "misrounded": misrounded}  # fmt: skip


# For each: the steps after which episodes are cut off, fewer than usual so that both ends come, and a policy that gets somewhere.
LIMITS = {
    "cartpole": (60, lambda s: int(s[2] + 0.5 * s[3] + 0.05 * s[1] > 0)),
    "acrobot": (120, lambda s: 2 if s[2] < 0 else 0),
    "mountain-car": (150, lambda s: 2 if s[1] >= 0 else 0),
    "mountain-car-continuous": (150, lambda s: np.array([1 if s[1] >= 0 else -1], dtype=np.float32)),
    "pendulum": (70, None),
}
NAMES = {"cartpole": "CartPole-v1", "acrobot": "Acrobot-v1", "mountain-car": "MountainCar-v0",
         "mountain-car-continuous": "MountainCarContinuous-v0", "pendulum": "Pendulum-v1"}  # fmt: skip


def trajectory(name, seed):
    """200 steps from reset(seed), reset again wherever it ends or is cut off; every tenth state and every last one is kept."""
    make, _, _, actions, _ = CLASSIC[name]
    limit, policy = LIMITS[name]
    rng = np.random.default_rng(seed + 1000)
    env = gymnasium.wrappers.TimeLimit(make(), limit)
    observation, _ = env.reset(seed=seed)
    first = np.asarray(env.unwrapped.state, dtype=np.float64)
    first_observation = observation
    states, rewards, terminated, truncated, taken = [], [], "", "", []
    for t in range(200):
        action = random_action(rng, actions)
        if policy is not None and seed % 2 == 1 and rng.random() < 0.95:
            action = policy(env.unwrapped.state)
        observation, reward, end, cut, _ = env.step(action)
        if t % 10 == 9 or end or cut:
            states.append(np.asarray(env.unwrapped.state, dtype=np.float64))
        rewards.append(reward)
        terminated += "1" if end else "0"
        truncated += "1" if cut else "0"
        taken.append(action if isinstance(action, int) else action[0])
        if (end or cut) and t < 199:
            env.reset()
    discrete = isinstance(actions, int)
    return {"seed": seed, "first": pack(first), "firstObservation": pack(first_observation, "<f4"),
            "actions": "".join(map(str, taken)) if discrete else pack(taken, "<f4"),
            "states": pack_rounded(states), "rewards": pack_rounded(rewards), "terminated": terminated,
            "truncated": truncated, "lastObservation": pack(observation, "<f4")}  # fmt: skip


def classic():
    return {
        name: {
            "maxSteps": gymnasium.spec(NAMES[name]).max_episode_steps,
            "limit": LIMITS[name][0],
            "steps": random_steps(name, 2000, 7, False),
            "contextSteps": random_steps(name, 160, 8, True),
            "trajectories": [trajectory(name, seed) for seed in range(10)],
        }
        for name in CLASSIC
    }


def model(env):
    """Digests of the transition table, row by row in the order of states and actions."""
    states, actions = env.observation_space.n, env.action_space.n
    table = [env.P[s][a] for s in range(states) for a in range(actions)]
    rows = [row for outcomes in table for row in outcomes]
    offsets = np.concatenate([[0], np.cumsum([len(outcomes) for outcomes in table])])

    def digest(values, dtype):
        return hashlib.sha256(np.asarray(values, dtype=dtype).tobytes()).hexdigest()[:16]

    return {
        "states": int(states),
        "actions": int(actions),
        "rows": len(rows),
        "start": digest(env.initial_state_distrib, "<f8"),
        "offsets": digest(offsets, "<i4"),
        "probabilities": digest([row[0] for row in rows], "<f8"),
        "next": digest([row[1] for row in rows], "<i4"),
        "rewards": digest([row[2] for row in rows], "<f8"),
        "terminated": digest([row[3] for row in rows], "u1"),
    }


def greedy(env):
    """The best action of each state at a discount of 0.95, so that episodes reach their goals."""
    value = np.zeros(env.observation_space.n)
    for _ in range(60):
        q = np.array([[sum(p * (r + 0.95 * value[n] * (not t)) for p, n, r, t in env.P[s][a])
                       for a in range(env.action_space.n)] for s in range(len(value))])  # fmt: skip
        value = q.max(axis=1)
    return q.argmax(axis=1)


def sequence(env, seed, steps, limit=None):
    """Good and random actions from reset(seed), reset again wherever an episode ends or reaches `limit` steps."""
    rng = np.random.default_rng(seed + 1000)
    policy = greedy(env) if hasattr(env, "P") else None
    observation, info = env.reset(seed=seed)
    observations, actions, rewards, terminated, masks = [observation], [], [], "", []
    length = 0
    for _ in range(steps):
        best = policy is not None and rng.random() < 0.7
        action = int(policy[observation]) if best else int(rng.integers(env.action_space.n))
        observation, reward, end, _, info = env.step(action)
        observations.append(observation)
        actions.append(action)
        rewards.append(reward)
        terminated += "1" if end else "0"
        if "action_mask" in info:
            masks.append(info["action_mask"])
        length += 1
        if end or length == limit:
            observation, info = env.reset()
            observations.append(observation)
            length = 0
    result = {"seed": seed, "limit": limit, "actions": "".join(map(str, actions)), "observations": pack(observations, "<i2"),
              "rewards": pack(rewards, "<f4"), "terminated": terminated}  # fmt: skip
    if masks:
        result["masks"] = pack([int("".join(map(str, mask)), 2) for mask in masks], "u1")
    return result


def world(env, context, seed, steps=1000, limit=None):
    entry = {"context": context, "sequence": sequence(env, seed, steps, limit)}
    if hasattr(env, "P"):
        entry["model"] = model(env)
    return entry


def toy_text():
    lake, cliff, cab, cards = (frozen_lake.FrozenLakeEnv, cliffwalking.CliffWalkingEnv, taxi.TaxiEnv,
                               blackjack.BlackjackEnv)  # fmt: skip
    maps = {f"{size} {p} {seed}": "".join(frozen_lake.generate_random_map(size, p, seed))
            for size, p, seed in [(4, 0.8, 0), (4, 0.5, 1), (5, 0.7, 2), (8, 0.8, 3), (8, 0.6, 4), (8, 0.8, 12345), (6, 1.0, 5)]}  # fmt: skip
    generated = frozen_lake.generate_random_map(5, 0.8, 17)
    return {
        "maps": maps,
        "frozen-lake": [
            world(lake(), {}, 0),
            world(lake(is_slippery=False), {"successRate": 1}, 1),
            world(lake(success_rate=0.7, reward_schedule=(5, -1, -0.25)),
                  {"successRate": 0.7, "goalReward": 5, "holeReward": -1, "stepReward": -0.25}, 2),
        ],
        "frozen-lake-8x8": [
            world(lake(map_name="8x8"), {}, 3, 2000, 200),
            world(lake(map_name="8x8", is_slippery=False), {"successRate": 1}, 4, 1000, 200),
        ],
        "frozen-lake-generated": [world(lake(desc=generated), {"layout": 17}, 5)],
        "cliff-walking": [world(cliff(), {}, 6, 2000, 200)],
        "cliff-walking-slippery": [world(cliff(is_slippery=True), {}, 7, 2000, 200)],
        "taxi": [
            world(cab(), {}, 8, 2000, 200),
            world(cab(is_rainy=True), {"forwardRate": 0.8}, 9, 2000, 200),
            world(cab(is_rainy=True, rainy_probability=0.65, fickle_passenger=True, fickle_probability=0.9),
                  {"forwardRate": 0.65, "fickleRate": 0.9}, 10, 2000, 200),
        ],
        "blackjack": [
            world(cards(sab=True), {}, 11, 2000),
            world(cards(natural=True), {"naturalWins": 0, "naturalReward": 1.5}, 12, 2000),
            world(cards(), {"naturalWins": 0}, 13),
        ],
    }  # fmt: skip


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    for name, content in [("classic", classic()), ("toy_text", toy_text())]:
        path = folder / f"{name}.json"
        path.write_text(json.dumps(content, indent=1) + "\n")
        print(path.name, path.stat().st_size, "bytes", file=sys.stderr)
