"""What a coding agent does with `almanac mcp`, through the Python SDK; prints one JSON object.

usage: client.py stdio COMMAND ARGUMENTS... | client.py http URL PID
"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def server_process():
    """The one child of this process that runs `almanac`."""
    with open("/proc/self/task/%d/children" % os.getpid(), encoding="ascii") as children:
        return int(children.read().split()[0])


def text(result):
    return "".join(block.text for block in result.content)


async def refused(client, tool, arguments):
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"protocol": True, "code": error.code, "text": error.message}
    return {"protocol": False, "is_error": bool(result.is_error), "text": text(result)}


async def main():
    if sys.argv[1] == "stdio":
        server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:], env=dict(os.environ))
    else:
        server = sys.argv[2]
    async with Client(server) as client:
        process = server_process() if sys.argv[1] == "stdio" else int(sys.argv[3])
        tools = (await client.list_tools()).tools
        calls = {
            "context": {"task": "Fill the ghost cells of a Field in corners too", "max_tokens": 1500},
            "search": {"query": "Where are ghost cells exchanged?", "max_tokens": 800},
            "explain": {"name": "Field::fillHalo", "max_tokens": 2000},
            "ask": {"question": "Where are ghost cells exchanged?", "max_tokens": 300},
            "status": {},
        }
        said = {}
        for tool, arguments in calls.items():
            result = await client.call_tool(tool, arguments)
            said[tool] = {"is_error": bool(result.is_error), "text": text(result)}
        bad = {
            "no such tool": await refused(client, "delete", {}),
            "no argument": await refused(client, "search", {}),
            "empty": await refused(client, "search", {"query": "  "}),
            "unknown argument": await refused(client, "search", {"query": "x", "path": "/etc"}),
            "budget": await refused(client, "search", {"query": "x", "max_tokens": 10}),
            "oversized": await refused(client, "search", {"query": "x" * 200_000}),
            "outside": await refused(client, "explain", {"name": "../../etc/passwd"}),
            "absolute": await refused(client, "explain", {"name": "/etc/passwd"}),
            "not there": await refused(client, "explain", {"name": "fillHalos"}),
            "option": await refused(client, "context", {"task": "x", "commit": "--output=/tmp/x"}),
        }

        failures = 0
        memory = []
        gate = asyncio.Semaphore(16)

        async def one(number):
            nonlocal failures
            async with gate:
                tool = ["search", "context", "explain", "status"][number % 4]
                result = await client.call_tool(tool, calls[tool])
                failures += bool(result.is_error) or text(result) != said[tool]["text"]

        rounds = int(sys.argv[4]) if sys.argv[1] == "http" else 5
        for _ in range(rounds):
            await asyncio.gather(*(one(number) for number in range(200)))
            memory.append(resident(process))
        print(json.dumps({
            "tools": [{"name": tool.name, "schema": tool.input_schema} for tool in tools],
            "said": said, "bad": bad, "failures": failures, "memory_kib": memory,
        }))


asyncio.run(main())
