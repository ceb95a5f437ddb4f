"""Cloudflare's own client for Python makes every waiting-room call that it has. Its answers are models
with types, against which what was received is checked strictly.

    ANTEROOM_API_URL=http://localhost:8790 python tests/clients/pypi.py
"""

import inspect
import os
import unittest

from cloudflare import BadRequestError, Cloudflare, NotFoundError, PermissionDeniedError
from pydantic import TypeAdapter

URL = os.environ["ANTEROOM_API_URL"] + "/client/v4"
ZONE = "0000000000000000000000000000000a"
ACCOUNT = "0000000000000000000000000000000b"
WRITE = "write-0123456789abcdef0123456789abcdef"
READ = "read-0123456789abcdef0123456789abcdef"

client = Cloudflare(api_token=WRITE, base_url=URL, max_retries=0)
rooms = client.waiting_rooms
called = set()


def call(method, *args, **kwargs):
    """Makes a call, notes it, and checks the types of its answer, which the client itself does not."""
    called.add((type(method.__self__).__name__, method.__name__))
    answer = method(*args, zone_id=ZONE, **kwargs)
    found = list(answer) if hasattr(answer, "iter_pages") else answer
    for one in found if isinstance(found, list) else [found]:
        TypeAdapter(type(one)).validate_json(one.to_json(use_api_names=True, exclude_unset=True), strict=True)
    return found


def room(**more):
    fields = {"name": "python", "host": "py.example.com", "new_users_per_minute": 200, "total_active_users": 300}
    return fields | more


def methods(resource):
    """The calls of a part of the client and of the parts below it."""
    for name in dir(type(resource)):
        value = inspect.getattr_static(type(resource), name)
        if name.startswith("_") or name.startswith("with_"):
            continue
        if inspect.isfunction(value):
            yield (type(resource).__name__, name)
        elif not isinstance(value, property) or name in ("_client",):
            yield from methods(getattr(resource, name))


class WaitingRooms(unittest.TestCase):
    def setUp(self):
        for each in list(rooms.list(zone_id=ZONE)):
            rooms.delete(each.id, zone_id=ZONE)

    def test_1_rooms(self):
        made = call(rooms.create, **room())
        self.assertEqual(call(rooms.get, made.id), made)
        self.assertEqual(call(rooms.list), [made])
        self.assertEqual(list(rooms.list(account_id=ACCOUNT)), [made])
        applied = room(queue_all=True, additional_routes=[{"host": "b.example.com", "path": "/b"}],
                       cookie_suffix="py", cookie_attributes={"samesite": "lax"},
                       default_template_language="de-DE", enabled_origin_commands=["revoke"],
                       queueing_status_code=429, turnstile_mode="off", turnstile_action="log")
        put = call(rooms.update, made.id, **applied)
        self.assertEqual(call(rooms.update, made.id, **applied), put)
        edited = call(rooms.edit, made.id, **room(session_duration=7))
        self.assertEqual((edited.session_duration, edited.queue_all), (7, True))
        self.assertEqual(call(rooms.delete, made.id).id, made.id)

    def test_2_events(self):
        made_room = call(rooms.create, **room())
        event = {"name": "opening", "event_start_time": "2035-11-26T09:00:00Z", "event_end_time": "2035-11-26T12:00:00Z"}
        made = call(rooms.events.create, made_room.id, **event)
        at = {"waiting_room_id": made_room.id}
        self.assertEqual(call(rooms.events.get, made.id, **at), made)
        self.assertEqual(call(rooms.events.list, made_room.id), [made])
        put = call(rooms.events.update, made.id, **at, **event, session_duration=3)
        self.assertEqual(call(rooms.events.update, made.id, **at, **event, session_duration=3), put)
        edited = call(rooms.events.edit, made.id, **at, **event, session_duration=None)
        self.assertIsNone(edited.session_duration)
        self.assertEqual(call(rooms.events.details.get, made.id, **at).session_duration, 5)
        self.assertEqual(call(rooms.events.delete, made.id, **at).id, made.id)

    def test_3_rules(self):
        made = call(rooms.create, **room())
        rule = {"action": "bypass_waiting_room", "expression": 'http.host eq "a"'}
        call(rooms.rules.create, made.id, rules=rule)
        put = call(rooms.rules.update, made.id, rules=[rule, rule | {"enabled": False}])
        self.assertEqual(call(rooms.rules.update, made.id, rules=[rule, rule | {"enabled": False}]), put)
        at = {"waiting_room_id": made.id}
        moved = call(rooms.rules.edit, put[1].id, **at, **rule, position={"before": put[0].id})
        self.assertEqual([each.id for each in moved], [put[1].id, put[0].id])
        self.assertEqual(call(rooms.rules.get, made.id), moved)
        self.assertEqual(len(call(rooms.rules.delete, put[0].id, **at)), 1)

    def test_4_settings_status_and_preview(self):
        made = call(rooms.create, **room())
        self.assertFalse(call(rooms.settings.get).search_engine_crawler_bypass)
        self.assertTrue(call(rooms.settings.edit, search_engine_crawler_bypass=True).search_engine_crawler_bypass)
        self.assertFalse(call(rooms.settings.update).search_engine_crawler_bypass)
        self.assertEqual(call(rooms.statuses.get, made.id).status, "not_queueing")
        self.assertIn("/preview/", call(rooms.page.preview, custom_html="<p>").preview_url)

    def test_5_errors(self):
        with self.assertRaises(NotFoundError):
            rooms.get("0" * 32, zone_id=ZONE)
        with self.assertRaises(BadRequestError):
            rooms.create(zone_id=ZONE, **room(total_active_users=0))
        reader = Cloudflare(api_token=READ, base_url=URL, max_retries=0)
        with self.assertRaises(PermissionDeniedError):
            reader.waiting_rooms.create(zone_id=ZONE, **room())

    def test_6_no_call_was_left_out(self):
        there = set(methods(rooms))
        self.assertGreaterEqual(len(there), 23)
        self.assertEqual(there - called, set())


if __name__ == "__main__":
    unittest.main()
