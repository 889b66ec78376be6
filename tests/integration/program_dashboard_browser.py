#!/usr/bin/env python3
"""Looks at `quorate dashboard` with a real browser: Chromium without a window, driven through its DevTools pipe.

  program_dashboard_browser.py STORY --address URL --quorate PATH --kubectl PATH --kubeconfig FILE --screens FOLDER

A story ends with exit status 0 if all of it held; otherwise the exception says what did not. What stands in the API server was put there by
program_dashboard_test.cc.
"""
import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

patience = 20  # seconds for anything that is to come about


class Browser:
    """Chromium, and one page of it. Messages go through descriptors 3 and 4, each ended by a zero byte."""

    def __init__(self, folder):
        to_browser, from_us = os.pipe()
        to_us, from_browser = os.pipe()
        command = [shutil.which("chromium"), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                   f"--user-data-dir={folder}", "about:blank"]
        # What the browser expects at 3 and 4 may stand there for another purpose by now: both are moved out of the way first.
        shell = 'exec 8<&"$1" 9>&"$2" 3<&8 4>&9 8<&- 9>&-; shift 2; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", shell, "bash", str(to_browser), str(from_browser), *command],
                                        pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.inn = os.fdopen(from_us, "wb", 0), os.fdopen(to_us, "rb")
        self.rest, self.count, self.session, self.seen = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def close(self):
        self.out.close()
        self.inn.close()
        self.process.kill()
        self.process.wait()

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.inn.fileno(), 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.seen.append(answer)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def visit(self, address):
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def until(self, expression, what=None):
        """Looks until the expression holds, and gives its value."""
        deadline = time.monotonic() + patience
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"{what or expression}: not within {patience} s; the page says:\n{self.text()}")
            time.sleep(0.05)

    def text(self):
        return self.evaluate("document.body.innerText")

    def press(self, key, text=None):
        parameters = {"key": key, **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **parameters)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def tab(self):
        self.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
        self.call("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)

    def enter(self):
        self.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
        self.call("Input.dispatchKeyEvent", type="keyUp", key="Enter", code="Enter", windowsVirtualKeyCode=13)

    def type(self, text):
        for letter in text:
            self.press(letter, letter)

    def look(self, scheme, width=1280, height=900):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]))

    def complaints(self):
        """What the browser found wrong: scripts that broke, files that are missing, what the policy forbids."""
        found = []
        for event in self.seen:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(f"{event['params']['entry']['text']} {event['params']['entry'].get('url', '')}")
        return found


def check(holds, what):
    if not holds:
        raise AssertionError(what)


class Story:
    def __init__(self, browser, args):
        self.browser, self.args = browser, args

    def run(self, *command):
        environment = dict(os.environ, KUBECONFIG=self.args.kubeconfig)
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    def apply(self, thing):
        environment = dict(os.environ, KUBECONFIG=self.args.kubeconfig)
        subprocess.run([self.args.kubectl, "apply", "-f", "-"], input=json.dumps(thing), check=True, capture_output=True, text=True, env=environment)

    def set_status(self, name, patch):
        self.run(self.args.kubectl, "patch", "etcdcluster", name, "-n", "shop", "--subresource=status", "--type=merge",
                 "-p", json.dumps({"status": patch}))

    def open_fleet(self):
        self.browser.visit(self.args.address)
        self.browser.until("document.querySelectorAll('#rows tr').length >= 4")

    def open_cluster(self, key):
        self.open_fleet()
        self.browser.evaluate(f"location.hash = '#/{key}'")
        self.browser.until("document.querySelectorAll('#members tr').length > 0")

    def cells(self, rows):
        return self.browser.evaluate(f"[...document.querySelectorAll('{rows}')].map(row => [...row.cells].map(cell => cell.innerText))")

    def rows(self):
        return self.cells("#rows tr:not([hidden])")

    # --- the stories

    def fleet(self):
        """All clusters, those with problems first; texts stay texts; nothing is missing, nothing forbidden."""
        self.open_fleet()
        rows = self.rows()
        check([row[0] for row in rows] == ["shop/carts", "shop/orders", "shop/sneaky", "shop/users"], f"order of the rows: {rows}")
        check(rows[0][1] == "Frozen: 1 of 3 members answer, 2 are needed", f"health: {rows[0]}")
        check(rows[3][2:5] == ["3/3", "3.6.16", "users-1"], f"a row: {rows[3]}")
        check(rows[2][1] == "<img src=x onerror=\"document.title='broken'\"> & more", f"a text that looks like markup: {rows[2]}")
        check(self.browser.evaluate("document.querySelectorAll('main img').length") == 0, "markup of an object has become markup of the page")
        check(self.browser.text().count("4 clusters, 1 with a problem, 2 under way") == 1, f"summary:\n{self.browser.text()}")
        check(self.browser.evaluate("document.title") == "1 problem · Quorate", "title")
        check(self.browser.complaints() == [], f"the browser complains: {self.browser.complaints()}")

    def live(self):
        """What changes in the cluster changes on the page, without a reload."""
        self.open_fleet()
        self.browser.evaluate("window.untouched = true")
        self.set_status("users", {"phase": "2/3 members are ready", "ready": "2/3"})
        row = "[...document.querySelectorAll('#rows tr')].find(row => row.innerText.includes('shop/users')).innerText"
        self.browser.until(f"{row}.includes('2/3 members are ready')")
        self.set_status("users", {"phase": "Ready", "ready": "3/3"})
        self.browser.until(f"{row}.includes('Ready')")
        self.run(self.args.quorate, "create", "fresh", "-n", "shop")
        self.browser.until("document.querySelectorAll('#rows tr').length === 5", "a new cluster appears")
        self.run(self.args.quorate, "delete", "fresh", "-n", "shop", "--yes")
        self.browser.until("document.querySelectorAll('#rows tr').length === 4", "a deleted cluster goes")
        check(self.browser.evaluate("window.untouched"), "the page was loaded anew")

    def history(self):
        """What happens while a cluster is looked at stands in its history."""
        self.open_cluster("shop/users")
        self.browser.until("document.querySelector('#history').innerText.includes('declared')")
        self.set_status("users", {"leader": "users-2"})
        self.browser.until("document.querySelector('#history li').innerText.includes('users-2 leads')")
        self.browser.until("[...document.querySelectorAll('#members tr')].some(row => /users-2\\s+leader/.test(row.innerText))")
        self.set_status("users", {"leader": "users-1"})
        self.browser.until("document.querySelector('#history li').innerText.includes('users-1 leads')")

    def events(self):
        """Many Events do not bury the page: the latest are shown, all of them on request."""
        self.open_cluster("shop/users")
        for number in range(14):
            event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": f"users.{number}", "namespace": "shop"},
                     "eventTime": f"2026-01-02T03:04:{number:02}.000000Z", "reportingController": "test", "reportingInstance": "test",
                     "action": "Try", "type": "Normal", "reason": "Tried", "note": f"try {number}",
                     "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "users-0", "namespace": "shop"}}
            self.apply(event)
        self.browser.until("document.querySelectorAll('#events li').length === 13 && document.querySelector('#events').innerText.includes('try 13')")
        check("try 1\n" not in self.browser.text() + "\n", "the oldest are not shown at once")
        self.browser.evaluate("document.querySelector('#events button').click()")
        self.browser.until("document.querySelectorAll('#events li').length === 14 && document.querySelector('#events').innerText.includes('try 0')")

    def words(self):
        """The page says what `quorate why` says."""
        self.open_cluster("shop/orders")
        said = self.run(self.args.quorate, "why", "orders", "-n", "shop")
        shown = re.sub(r"\s+", " ", self.browser.text())
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        check(len(lines) >= 6, f"why says little:\n{said}")
        for line in lines[1:]:
            line = re.sub(r"since \S+ \((\S+ ago)\)", r"since \1", line)  # the page has the time itself as a tooltip
            line = line.removeprefix("you can: ")
            check(line in shown, f"`quorate why` says {line!r}, the page:\n{shown}")
        check("overdue" in shown, f"a deadline that has passed:\n{shown}")
        page = self.run(self.args.quorate, "status", "orders", "-n", "shop")
        members = self.cells("#members tr")
        check([row[0] for row in members] == ["orders-0", "orders-1", "orders-2"], f"members: {members}")
        for row in members:
            line = next(line for line in page.splitlines() if line.strip().startswith(row[0]))
            check(re.split(r"\s{3,}", line.strip())[:6] == [cell.replace("–", "-") for cell in row[:6]], f"{row} differs from {line!r}")

    def keyboard(self):
        """Everything can be reached by keys: / filters, Enter opens, Escape goes back to where one was."""
        browser = self.browser
        self.open_fleet()
        browser.press("/", "/")
        check(browser.evaluate("document.activeElement.id") == "filter", "/ goes to the filter")
        browser.type("shop/user")
        check(browser.evaluate("document.querySelector('#filter').value") == "shop/user", "/ is a letter there")
        check([row[0] for row in self.rows()] == ["shop/users"], f"filtered: {self.rows()}")
        browser.press("Escape")
        check(len(self.rows()) == 4, "Escape clears the filter")
        browser.tab()
        check(browser.evaluate("document.activeElement.innerText") == "carts", "Tab goes on to the first row")
        browser.press("ArrowDown")
        browser.tab()
        check(browser.evaluate("document.activeElement.innerText") == "sneaky", "arrows and Tab go from row to row")
        self.set_status("carts", {"phase": "Frozen: 1 of 3 members answer, 2 are needed."})
        browser.until("document.querySelector('#rows').innerText.includes('needed.')")
        check(browser.evaluate("document.activeElement.innerText") == "sneaky", "what changes does not take the focus away")
        self.set_status("carts", {"phase": "Frozen: 1 of 3 members answer, 2 are needed"})
        browser.enter()
        browser.until("location.hash === '#/shop/sneaky' && !document.querySelector('#cluster').hidden")
        check(browser.evaluate("document.activeElement.id") == "cluster-title", "the focus is on the new page's title")
        browser.press("Escape")
        browser.until("location.hash === '#/' && document.querySelector('#cluster').hidden")
        check(browser.evaluate("document.activeElement.innerText") == "sneaky", "back where one was")

    def token(self):
        """Without the token nothing is shown; with it, it does not stay in the address."""
        bare = self.args.address.split("#")[0]
        self.browser.visit(bare)
        self.browser.until("document.querySelector('#trouble').innerText.includes('quorate dashboard')")
        check(self.browser.evaluate("document.querySelectorAll('#rows tr').length") == 0, "rows are shown to a stranger")
        self.browser.visit("about:blank")
        self.open_fleet()
        check(self.browser.evaluate("location.href") == bare + "#/", "the token stays in the address")
        check(self.browser.evaluate("document.cookie") == "", "there is a cookie")
        for event in self.browser.seen:
            if event.get("method") == "Network.requestWillBeSent":
                address = event["params"]["request"]["url"]
                check("token" not in address, f"the token was sent in an address: {address}")

    def accessible(self):
        """What a screen reader is told: a table with headers, rows by their cluster, and what is announced."""
        self.open_fleet()
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        told = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored") and "role" in node]
        for wanted in [("heading", "Clusters"), ("table", "Clusters, those with problems first"), ("columnheader", "Health"),
                       ("rowheader", "shop/carts"), ("link", "carts"), ("searchbox", "Filter /"), ("main", "")]:
            check(wanted in told, f"{wanted} is not told; there is {told}")
        check(sum(role == "status" for role, _ in told) >= 2, "what changes is announced")

    def screens(self):
        """Pictures for people to look at, light and dark, wide and narrow; nothing sticks out of a narrow window."""
        folder = pathlib.Path(self.args.screens)
        folder.mkdir(parents=True, exist_ok=True)
        grounds = {}
        for scheme in ("light", "dark"):
            for name, width in (("wide", 1280), ("narrow", 420)):
                self.browser.look(scheme, width)
                self.open_fleet()
                self.browser.screenshot(folder / f"fleet-{scheme}-{name}.png")
                check(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"the fleet is wider than {width}")
                self.open_cluster("shop/orders")
                self.browser.screenshot(folder / f"cluster-{scheme}-{name}.png")
                check(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"a cluster is wider than {width}")
            grounds[scheme] = self.browser.evaluate("getComputedStyle(document.body).backgroundColor")
        check(grounds["light"] != grounds["dark"], f"dark is as light: {grounds}")


def main():
    stories = [name for name, value in vars(Story).items() if callable(value) and value.__doc__]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("story", choices=stories)
    for name in ("address", "quorate", "kubectl", "kubeconfig", "screens"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            getattr(Story(browser, args), args.story)()
        finally:
            browser.close()


main()
