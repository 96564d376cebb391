import { evaluateNodes } from './evaluate.ts'
import { makeNode, topologicalOrder } from './node.ts'
import { constant, constantOperator } from './operators/constant.ts'
import { inputOperator } from './operators/input.ts'
import { iotaOperator } from './operators/iota.ts'
import { rewriteRules } from './rewrite-rules.ts'
import { sizeOf } from './shape.ts'
import type { Attributes, HostData, Tensor } from './types.ts'

/** Constants larger than this are computed at run time rather than stored in the program. */
const largestFolded = 65_536

/** Folds constants, applies the rewrite rules and merges equal nodes. What no output needs falls away. */
export function simplify(outputs: readonly Tensor[]): Tensor[] {
  const merged = new Map<string, Tensor>()
  const replaced = new Map<Tensor, Tensor>()

  function intern(node: Tensor): Tensor {
    const key = structure(node)
    const existing = merged.get(key)
    if (existing !== undefined) return existing
    merged.set(key, node)
    return node
  }

  function reduce(node: Tensor): Tensor {
    let current = node
    for (let steps = 0; steps < 16; steps++) {
      const next = rewrite(current, (candidate) => merged.get(structure(candidate)))
      if (next === undefined) break
      // a rule may build several nodes: all of them are simplified in turn
      current = replaced.has(next) ? replaced.get(next)! : rebuild(next)
    }
    return intern(current)
  }

  function rebuild(node: Tensor): Tensor {
    for (const inner of topologicalOrder([node])) {
      if (inner === node || replaced.has(inner) || merged.get(structure(inner)) === inner) continue
      replaced.set(inner, reduce(withInputs(inner)))
    }
    return withInputs(node)
  }

  function withInputs(node: Tensor): Tensor {
    const inputs = node.inputs.map((input) => replaced.get(input) ?? input)
    if (inputs.every((input, i) => input === node.inputs[i])) return node
    return makeNode(node.op, inputs, node.attributes)
  }

  for (const node of topologicalOrder(outputs)) {
    if (replaced.has(node)) continue
    replaced.set(node, reduce(withInputs(node)))
  }
  return outputs.map((node) => replaced.get(node)!)
}

function rewrite(node: Tensor, find: (candidate: Tensor) => Tensor | undefined): Tensor | undefined {
  if (foldable(node)) {
    const [{ data, shape }] = evaluateNodes([node], {})
    return constant(data instanceof Float64Array ? Float32Array.from(data) : data, shape, node.dtype)
  }
  for (const rule of rewriteRules) {
    const next = rule(node, find)
    if (next !== undefined && next !== node) return next
  }
  return undefined
}

function foldable(node: Tensor): boolean {
  return (
    ![constantOperator, inputOperator, iotaOperator].includes(node.op) &&
    node.inputs.length > 0 &&
    node.inputs.every((input) => input.op === constantOperator) &&
    node.shape.every((dim) => typeof dim === 'number') &&
    sizeOf(node.shape) <= largestFolded
  )
}

let buffers = 0
const bufferNames = new WeakMap<HostData, number>()

const isHostData = (value: unknown): value is HostData => ArrayBuffer.isView(value)

function attributeKey(attributes: Attributes): string {
  return JSON.stringify(attributes, (_, value: unknown) => {
    if (!isHostData(value)) return value
    if (value.length <= 64) return Array.from(value).map((x) => (Object.is(x, -0) ? '-0' : String(x)))
    if (!bufferNames.has(value)) bufferNames.set(value, buffers++)
    return `buffer ${bufferNames.get(value)}`
  })
}

/** Equal for nodes that compute the same. */
function structure(node: Tensor): string {
  return `${node.op.name}(${node.inputs.map((input) => input.id).join(',')})${attributeKey(node.attributes)}`
}
