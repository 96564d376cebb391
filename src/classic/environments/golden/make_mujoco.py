"""Writes mujoco.json beside this file: what Gymnasium's InvertedPendulum-v5 and Hopper-v5 do, for the tests of parity.

    pip install gymnasium==1.3.0 mujoco==3.14.0 imageio packaging
    python src/classic/environments/golden/make_mujoco.py

Of each model: what MuJoCo compiles from the file. Of each environment: single steps, with the whole state after each (positions,
velocities, and the accelerations that the solver starts from) and where another state follows, also of robots that have fallen and with other constants of
the model; and episodes from reset(seed), whose starts the tests draw again.
"""

import base64
import json
import pathlib
import sys
import zlib

import gymnasium
import mujoco
import numpy as np

assert gymnasium.__version__ == "1.3.0", gymnasium.__version__
assert mujoco.__version__ == "3.14.0", mujoco.__version__

MODEL_ARRAYS = ["body_mass", "body_inertia", "body_pos", "body_ipos", "jnt_type", "jnt_pos", "jnt_axis", "jnt_range",
                "dof_damping", "dof_armature", "geom_type", "geom_size", "geom_pos", "geom_friction", "geom_margin", "geom_solimp",
                "geom_solref", "geom_condim", "geom_contype", "geom_conaffinity", "actuator_gear", "actuator_ctrlrange", "qpos0"]  # fmt: skip


def pack(values, dtype="<f8"):
    return base64.b64encode(zlib.compress(np.ascontiguousarray(values, dtype=dtype).tobytes(), 9)).decode()


def model_of(name):
    model = gymnasium.make(name).unwrapped.model
    arrays = {key: np.asarray(getattr(model, key), dtype=np.float64).ravel().tolist() for key in MODEL_ARRAYS}
    return {"timestep": model.opt.timestep, "integrator": int(model.opt.integrator), "gravity": model.opt.gravity.tolist(),
            "arrays": arrays}  # fmt: skip


def full_state(data):
    return np.concatenate([data.qpos, data.qvel, data.qacc_warmstart])


def balance(env):
    """Towards a pole that stands in the middle of the rail."""
    x, angle, speed, turn = *env.data.qpos, *env.data.qvel
    return np.clip(np.array([0.2 * x + 5 * angle + 0.4 * speed + 1.2 * turn]), -3, 3)


def upright(env):
    """Holds the pose of the start, leaning forwards a little."""
    return np.clip(-2 * env.data.qpos[3:] - 0.1 * env.data.qvel[3:] + np.array([0.1, 0, 0]), -1, 1)


def set_pendulum(env, gravity, force, damping):
    env.model.opt.gravity[2] = -gravity
    env.model.actuator_gear[0, 0] = force
    env.model.dof_damping[:] = damping


def set_hopper(env, gravity, torque, friction, control_cost):
    env.model.opt.gravity[2] = -gravity
    env.model.actuator_gear[:, 0] = torque
    env.model.geom_friction[-1, 0] = friction
    env._ctrl_cost_weight = control_cost


# For each: its name, a policy, the bound of random actions (beyond the range, so that some are clipped), and the context
# features that the reference can be given, with their ranges.
ENVIRONMENTS = {
    "inverted-pendulum": ("InvertedPendulum-v5", balance, 4.0, set_pendulum,
                          {"gravity": (2, 20), "force": (20, 200), "damping": (0, 3)}),
    "hopper": ("Hopper-v5", upright, 1.3, set_hopper,
               {"gravity": (4, 16), "torque": (100, 300), "friction": (1, 4), "controlCost": (0, 0.05)}),
}  # fmt: skip


def action_of(env, policy, bound, rng, purpose):
    size = env.model.nu
    chosen = policy(env) if rng.random() < purpose else rng.uniform(-bound, bound, size)
    return np.asarray(chosen, dtype=np.float32)


def single_steps(key, count, seed, varies):
    """Steps in a row. An episode goes on for 40 steps after its end, so that fallen robots are among them."""
    name, policy, bound, set_context, ranges = ENVIRONMENTS[key]
    env = gymnasium.make(name).unwrapped
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    contexts, starts, after, actions, rewards, ends = [], [(0, full_state(env.data))], [], [], [], []
    left = None
    for k in range(count):
        if varies and k % 20 == 0:
            contexts.append([rng.uniform(low, high) for low, high in ranges.values()])
            set_context(env, *contexts[-1])
        action = action_of(env, policy, bound, rng, 0.7)
        _, reward, end, _, _ = env.step(action)
        after.append(full_state(env.data))
        actions.append(action)
        rewards.append(reward)
        ends.append(end)
        left = (40 if end else None) if left is None else left - 1
        if left == 0 or np.abs(env.data.qvel).max() > 50:
            env.reset()
            starts.append((k + 1, full_state(env.data)))
            left = None
    warnings = int(sum(warning.number for warning in env.data.warning))
    print(key, "steps", count, "ended", sum(ends), "warnings", warnings, file=sys.stderr)
    return {"count": count, "features": list(ranges) if varies else [], "contexts": pack(contexts),
            "starts": [k for k, _ in starts], "startStates": pack([state for _, state in starts]), "after": pack(after), "actions": pack(actions, "<f4"), "rewards": pack(rewards), "ends": pack(ends, "u1")}  # fmt: skip


def episode(key, seed, purpose):
    """An episode from reset(seed) to its end, of both kinds."""
    name, policy, bound, _, _ = ENVIRONMENTS[key]
    env = gymnasium.make(name)
    rng = np.random.default_rng(seed + 1000)
    first, _ = env.reset(seed=seed)
    actions, rewards, observations = [], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        action = action_of(env.unwrapped, policy, bound, rng, purpose)
        observation, reward, terminated, truncated, _ = env.step(action)
        actions.append(action)
        rewards.append(reward)
        observations.append(observation)
    print(key, "episode", seed, len(actions), "steps", "terminated" if terminated else "truncated", sum(rewards), file=sys.stderr)
    return {"seed": seed, "first": pack(first), "actions": pack(actions, "<f4"), "rewards": pack(rewards),
            "observations": pack(observations[::10] + observations[-1:]), "terminated": bool(terminated), "truncated": bool(truncated)}  # fmt: skip


if __name__ == "__main__":
    content = {
        key: {
            "model": model_of(ENVIRONMENTS[key][0]),
            "steps": single_steps(key, 500, 7, False),
            "contextSteps": single_steps(key, 200, 8, True),
            "episodes": [episode(key, seed, purpose) for seed, purpose in [(0, 0.0), (1, 0.5), (2, 0.9), (3, 1.0)]],
        }
        for key in ENVIRONMENTS
    }
    path = pathlib.Path(__file__).parent / "mujoco.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(path.name, path.stat().st_size, "bytes", file=sys.stderr)
