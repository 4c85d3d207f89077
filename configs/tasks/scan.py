"""SCAN (Lake & Baroni 2018, "Generalization without Systematicity", section 2): commands and the actions that they
mean, by the rules of its grammar, which has 20,910 commands. Each command belongs to one split: a tenth of them to
validation and a tenth to the test.

    jump twice and turn left    JUMP JUMP LTURN

Chance: about 0. Oracle: exact_match 1. Groups: the number of actions, 1 to 48."""
from zlib import crc32

from stream import write

rules = {
    "turn D": "D", "U": "U", "U D": "D U", "turn opposite D": "D D", "U opposite D": "D D U",
    "turn around D": "D D D D", "U around D": "D U D U D U D U"}
words = {"walk": "WALK", "look": "LOOK", "run": "RUN", "jump": "JUMP", "left": "LTURN", "right": "RTURN"}


def phrase(random):
    """A verb, perhaps with a direction, perhaps repeated: (command, actions)."""
    said = random.choice(list(rules))
    own = {"U": random.choice(["walk", "look", "run", "jump"]), "D": random.choice(["left", "right"])}
    command = [own.get(word, word) for word in said.split()]
    actions = [words[own[symbol]] for symbol in rules[said].split()]
    times, word = random.choice([(1, []), (2, ["twice"]), (3, ["thrice"])])
    return command + word, actions * times


def example(random, o):
    while True:
        (command, actions), joined = phrase(random), random.choice([None, "and", "after"])
        if joined:
            other, more = phrase(random)
            command, actions = command + [joined] + other, actions + more if joined == "and" else more + actions
        source = " ".join(command)
        held_out = {0: "val", 1: "test"}.get(crc32(source.encode()) % 10, "train")
        if held_out == o.split:
            return {"source": source, "target": " ".join(actions), "group": f"{len(actions)} actions"}


if __name__ == "__main__":
    write(example)
