"""Start the server of a project and open its page."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need
from spanloom.serving.run import end_quietly
from spanloom.workbench.app import make_app
from spanloom.workbench.project import Project

HOST = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """Return a socket of this machine; port 0 is any free one."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
        made.listen(128)  # whoever reads the address may connect at once; the server answers when it is up
    except OSError as error:
        made.close()
        raise SpanloomError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None
    return made


def serve(project: Project, port: int = 8765, *, open_page: bool = True, ready: Callable[[str], None]) -> None:
    """Serve a project until it is interrupted.

    Parameters
    ----------
    port
        0 for any free one.
    open_page
        Whether to open the page in the browser.
    ready
        Called with the address.
    """
    uvicorn: Any = need("uvicorn", "workbench")
    app = make_app(project)
    place = listen(port)
    address = f"http://{HOST}:{place.getsockname()[1]}/"
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=3)
    end_quietly()
    ready(address)
    if open_page:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    try:
        uvicorn.Server(config).run(sockets=[place])
    finally:
        project.close()
        place.close()
