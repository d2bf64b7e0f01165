"""What a comparison measured, for `tma-jit report`: objects as `tma-jit bench --json` prints them, with the times of peers."""
import json


class Pictured:
    """Results by their kind; problems of a kind make one picture."""

    def __init__(self, device, method):
        self.device, self.method, self.kinds = device, method, {}

    def add(self, kind, plan, ours, peers):
        """`ours` and the values of `peers`, by name, are milliseconds."""
        self.kinds.setdefault((plan["kernel"], kind), []).append({
            "kernel": plan["kernel"], "arch": plan["arch"], "device": self.device, "source": f"{kind}; {self.method}",
            "dims": [{"name": dim["name"], "value": dim["value"]} for dim in plan["dims"]], "config": plan["config"],
            "flops": plan["work"]["flops"], "bytes": plan["work"]["bytes"], "median_us": ours * 1e3,
            "peers": [{"name": name, "median_us": time * 1e3} for name, time in peers.items()]})

    def write(self, path):
        """Writes a sweep a kind, whose sizes are of the dims that are equal in each of its problems and vary among them."""
        with open(path, "w", encoding="utf-8") as file:
            for results in self.kinds.values():
                json.dump({"sweep": ",".join(varying(results)), "results": results}, file)
                file.write("\n")


def varying(results):
    dims = [{dim["name"]: dim["value"] for dim in result["dims"]} for result in results]
    names = [name for name in dims[0] if any(each.get(name) != dims[0][name] for each in dims)]
    return names if all(len({each.get(name) for name in names}) == 1 for each in dims) else []
