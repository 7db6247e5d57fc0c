// Ports of a workload, one a line: the container's, how it is reached, and the port it has there.
import { REACHED_BY, isPort } from "../pictures/submission";
import { Icon } from "../icons";
import { Button } from "./button";

// value: [{container, type, external}]; error: what is wrong with any of them.
export function PortsField({ value, error, onValue }) {
  const change = (i, key) => event =>
    onValue(value.map((p, at) => (at === i ? { ...p, [key]: event.target.value.trim() } : p)));
  const add = () => {
    onValue([...value, { container: "", type: "ClusterIP", external: "" }]);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => document.getElementById(`f-port-${value.length}`)?.focus()),
    );
  };
  const port = (i, key, id, off) => ({
    id,
    class: "in",
    inputmode: "numeric",
    autocomplete: "off",
    value: value[i][key],
    disabled: off,
    onInput: change(i, key),
    "aria-invalid":
      error && !off && !(key === "external" && value[i][key] === "") && !isPort(value[i][key]) ? "true" : null,
    "aria-describedby": error ? "f-ports-hint" : null,
  });
  return (
    <div class="f ports">
      {value.map((p, i) => (
        <div class="port" key={i}>
          <div>
            <label for={`f-port-${i}`}>Container port</label>
            <input {...port(i, "container", `f-port-${i}`)} placeholder="8888" />
          </div>
          <div>
            <label for={`f-reached-${i}`}>Reached by</label>
            <select class="in" id={`f-reached-${i}`} value={p.type} onChange={change(i, "type")}>
              {REACHED_BY.map(o => (
                <option key={o.value} value={o.value}>
                  {o.label}
                </option>
              ))}
            </select>
          </div>
          <div>
            <label for={`f-external-${i}`}>Port there</label>
            <input {...port(i, "external", `f-external-${i}`, p.type === "URL")} placeholder="any" />
          </div>
          <Button
            small
            kind="quiet"
            icon="close"
            label={`Remove port ${p.container || i + 1}`}
            onClick={() => onValue(value.filter((_, at) => at !== i))}
          />
        </div>
      ))}
      {error && (
        <p class="hint bad" role="alert" id="f-ports-hint">
          <Icon name="x" />
          {error}
        </p>
      )}
      <Button small icon="plus" onClick={add}>
        Port
      </Button>
    </div>
  );
}
