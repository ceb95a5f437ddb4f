#!/usr/bin/env python3
"""Works out the places that numbers got in the draw of an event's pre-queue.

    verify_draw.py --commitment HEX --key HEX --count N --first N NUMBER...

The inputs are those that the waiting page's JSON has after the draw: drawKey, drawCount, drawFirst
and drawNumber. As the commitment give the drawCommitment that you were shown BEFORE the start.
Prints a place for each number; it is what drawPlace says. docs/events.md tells what that proves.
"""

import argparse
import hashlib
import math
import sys

ROUNDS = 16


def place_of(number: int, key: bytes, count: int) -> int:
    """The place, counted from 0, of a number that is counted from 0 among `count`."""
    rows = math.isqrt(count - 1) + 1  # the square root, rounded up
    columns = -(-count // rows)  # the quotient, rounded up

    def step(round: int, line: int) -> int:
        text = key + round.to_bytes(1, "big") + line.to_bytes(8, "big")
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")

    at = number
    while True:
        row, column = divmod(at, columns)
        for round in range(ROUNDS):
            if round % 2 == 0:
                row = (row + step(round, column)) % rows
            else:
                column = (column + step(round, row)) % columns
        at = row * columns + column
        if at < count:
            return at


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commitment", help="drawCommitment, as shown before the start")
    parser.add_argument("--key", required=True, help="drawKey")
    parser.add_argument("--count", required=True, type=int, help="drawCount")
    parser.add_argument("--first", required=True, type=int, help="drawFirst")
    parser.add_argument("numbers", nargs="+", type=int, metavar="NUMBER", help="drawNumber")
    asked = parser.parse_args()
    key = bytes.fromhex(asked.key)
    if asked.commitment and hashlib.sha256(key).hexdigest() != asked.commitment.lower():
        sys.exit("The key is not the one that was committed to.")
    for number in asked.numbers:
        if not asked.first <= number < asked.first + asked.count:
            sys.exit(f"{number} took no part in this draw.")
        print(asked.first + place_of(number - asked.first, key, asked.count))


if __name__ == "__main__":
    main()
