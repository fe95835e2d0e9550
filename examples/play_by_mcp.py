"""Take a seat by the Model Context Protocol, with a policy that only reads and waits: put your agent in its place.

    python examples/play_by_mcp.py --seat sre --tier medium

A coding agent needs no program at all. Add the server to its configuration (`.mcp.json`, `mcp.json`, ...):

    {"mcpServers": {"warroom": {"command": "warroom", "args": ["mcp", "--seat", "sre", "--teammates", "expert"]}}}

and say: "Take the seat that warroom offers, and play the incident to its end."
"""

import asyncio
import os
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


def choose(tools: list[Any], turn: int, read: bool) -> tuple[str, dict[str, Any]]:
    """The next call: one reading a turn, of one service after the other, then the act that does least."""
    services = {tool.name: tool.inputSchema["properties"].get("service", {}) for tool in tools}
    readings = [tool.name for tool in tools if tool.annotations.readOnlyHint and "enum" in services[tool.name]]
    if read or not readings:
        return "wait", {}
    names = services[readings[0]]["enum"]
    return readings[0], {"service": names[turn % len(names)]}


async def play(arguments: list[str]) -> None:
    """Play one incident to its end and print the conversation."""
    command = ["-m", "warroom", "mcp", *arguments]
    server = StdioTransport(sys.executable, command, env=dict(os.environ))
    async with Client(server) as client:
        tools = await client.list_tools()
        answer = await client.call_tool("look")
        state, read = answer.meta["warroom"], False
        while not state["done"]:
            print(f"\n{answer.content[0].text}")
            name, values = choose(tools, state["turn"], read)
            answer = await client.call_tool(name, values)
            print(f"\n> {name} {values}")
            before, state = state, answer.meta["warroom"]
            read = state["turn"] == before["turn"]
        print(f"\n{answer.content[0].text}")


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1:]))
