// Ports of a workload, one a line: the container's, how it is reached, and the port it has there.
import type { TargetedEvent } from "preact";
import { type PortValue, REACHED_BY, isPort } from "../pictures/submission";
import { Icon } from "../icons";
import { Button } from "./button";

interface PortsProps {
  value: PortValue[];
  /** What is wrong with any of them. */
  error?: string;
  onValue(value: PortValue[]): void;
}
type Change = (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>) => void;

interface NumberProps {
  id: string;
  value: string;
  placeholder: string;
  off?: boolean;
  wrong: boolean;
  describedBy?: string;
  onInput: Change;
}
const PortNumber = ({ id, value, placeholder, off, wrong, describedBy, onInput }: NumberProps) => (
  <input
    id={id}
    class="in"
    inputmode="numeric"
    autocomplete="off"
    value={value}
    disabled={off}
    onInput={onInput}
    aria-invalid={wrong ? "true" : undefined}
    aria-describedby={describedBy}
    placeholder={placeholder}
  />
);

interface PortProps {
  port: PortValue;
  at: number;
  error?: string;
  change: (key: keyof PortValue) => Change;
  remove: () => void;
}

function Port({ port: p, at: i, error, change, remove }: PortProps) {
  const describedBy = error ? "f-ports-hint" : undefined,
    isUrl = p.type === "URL";
  return (
    <div class="port">
      <div>
        <label for={`f-port-${i}`}>Container port</label>
        <PortNumber
          id={`f-port-${i}`}
          value={p.container}
          placeholder="8888"
          wrong={Boolean(error) && !isPort(p.container)}
          describedBy={describedBy}
          onInput={change("container")}
        />
      </div>
      <div>
        <label for={`f-reached-${i}`}>Reached by</label>
        <select class="in" id={`f-reached-${i}`} value={p.type} onChange={change("type")}>
          {REACHED_BY.map(o => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for={`f-external-${i}`}>Port there</label>
        <PortNumber
          id={`f-external-${i}`}
          value={p.external}
          placeholder="any"
          off={isUrl}
          wrong={Boolean(error) && !isUrl && p.external !== "" && !isPort(p.external)}
          describedBy={describedBy}
          onInput={change("external")}
        />
      </div>
      <Button small kind="quiet" icon="close" label={`Remove port ${p.container || i + 1}`} onClick={remove} />
    </div>
  );
}

export function PortsField({ value, error, onValue }: PortsProps) {
  const change =
    (i: number) => (key: keyof PortValue) => (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>) =>
      onValue(value.map((p, at) => (at === i ? { ...p, [key]: event.currentTarget.value.trim() } : p)));
  const add = () => {
    onValue([...value, { container: "", type: "ClusterIP", external: "" }]);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => document.getElementById(`f-port-${value.length}`)?.focus()),
    );
  };
  return (
    <div class="f ports">
      {value.map((p, i) => (
        <Port
          key={i}
          port={p}
          at={i}
          error={error}
          change={change(i)}
          remove={() => onValue(value.filter((_, at) => at !== i))}
        />
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
