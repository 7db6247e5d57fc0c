"""Drives runapy for test_runapy.py, in runapy's own environment: a JSON text a line in, one out.

First in: {"url", "id", "secret"}; out: for every method of the client its HTTP method and path, {} for each parameter.
Then in: {"call": method, "path": [values], "query": {name: value}, "body": {} or null}; out: {"status", "said"}.
"""

import inspect
import json
import sys
import typing

from runai import api
from runai.api_client import ApiClient
from runai.configuration import Configuration
from runai.exceptions import ApiException

MARK = "qqparameter{}qq"


class Recorder:
    """In the place of the client: notes what a method would ask for."""

    def call_api(self, method, resource_path, **rest):
        self.asked = (method, resource_path, rest)
        return None


def inner(function):
    """The method behind the client's decorators, which hide its parameters."""
    while function.__name__ == "wrapper":
        function = next(c.cell_contents for c in function.__closure__ if inspect.isfunction(c.cell_contents))
    return function


def methods():
    for class_name, service in inspect.getmembers(api, inspect.isclass):
        if class_name.endswith("Api"):
            for name, function in inspect.getmembers(service, inspect.isfunction):
                if not name.startswith("_") and name != "options":
                    yield f"{class_name}.{name}", service, inner(function)


def model_of(annotation):
    """The client's model class that a parameter is, if it is one; of a list, of its elements."""
    for part in (annotation, *typing.get_args(annotation)):
        for one in (part, *typing.get_args(part)):
            if inspect.isclass(one) and one.__module__.startswith("runai.models") and hasattr(one, "from_dict"):
                return one
    return None


class Method:
    def __init__(self, service, function):
        self.service, self.function = service, function
        self.parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
        marks = {p.name: MARK.format(i) for i, p in enumerate(self.parameters)}
        recorder = Recorder()
        function(service(recorder), **marks)
        self.http, path, rest = recorder.asked
        found = sorted((path.index(mark), name) for name, mark in marks.items() if mark in path)
        self.path_names = [name for _, name in found]
        for name in self.path_names:
            path = path.replace(marks[name], "{}")
        self.path = path
        query = rest.get("query_params") or []
        pairs = query.items() if isinstance(query, dict) else query
        names = {mark: name for name, mark in marks.items()}
        self.query_names = {key: names[value] for key, value in pairs if value in names}
        self.body_name = names.get(rest.get("body")) if isinstance(rest.get("body"), str) else None

    def call(self, client, path, query, body):
        arguments = dict(zip(self.path_names, path, strict=True))
        for key, value in query.items():
            arguments[self.query_names[key]] = value
        if body is not None and not self.body_name:
            arguments |= body  # a form
        elif body is not None:
            annotation = next(p.annotation for p in self.parameters if p.name == self.body_name)
            model = model_of(annotation)
            # Only what is given is set: what is left out must not go out as null.
            read = (lambda one: model.model_validate(one)) if model else (lambda one: one)
            arguments[self.body_name] = [read(one) for one in body] if isinstance(body, list) else read(body)
        return self.function(self.service(client), **arguments)


def main():
    lines = (json.loads(line) for line in sys.stdin)
    where = next(lines)
    found, broken = {}, {}
    for name, service, function in methods():
        try:
            found[name] = Method(service, function)
        except Exception as e:  # what cannot be asked without good arguments is told
            broken[name] = repr(e)
    told = {name: [m.http, m.path] for name, m in found.items()}
    print(json.dumps({"methods": told, "broken": broken}), flush=True)
    client = ApiClient(
        Configuration(
            client_id=where["id"], client_secret=where["secret"], runai_base_url=where["url"], retry_enabled=False
        )
    )
    for order in lines:
        status, said = 200, ""
        try:
            found[order["call"]].call(client, order["path"], order["query"], order["body"])
        except ApiException as e:
            status, said = e.status or 0, str(e.body or e)
        except Exception as e:
            status, said = 0, repr(e)
        print(json.dumps({"status": status, "said": said[:500]}), flush=True)


main()
