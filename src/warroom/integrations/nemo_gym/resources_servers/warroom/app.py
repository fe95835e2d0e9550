"""The server that `gym` starts."""

from warroom.integrations.nemo_gym import IncidentServer

if __name__ == "__main__":
    IncidentServer.run_webserver()
