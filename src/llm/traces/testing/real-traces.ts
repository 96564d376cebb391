import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { context, type Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OpenTelemetry } from '@ai-sdk/otel'
import { generateText, stepCountIs, tool } from 'ai'
import * as seven from 'ai-7'
import { z } from 'zod'
import { createLanguageModel } from '../../agent/ai-sdk/language-model.ts'
import type { LanguageModel } from '../../agent/ai-sdk/read-call.ts'
import { readChatFormat } from '../../agent/chat-format/open-format.ts'
import { loadModel } from '../../backend/base-model.ts'
import { baseModelFolder } from '../../checkpoint/checkpoint.ts'

/** The model of the package as a model object of the AI SDK. */
export async function packagedModel(): Promise<{ model: LanguageModel; dispose: () => Promise<void> }> {
  const { backend, tokenizer } = await loadModel(baseModelFolder)
  const format = await readChatFormat(baseModelFolder, tokenizer)
  const window = backend.config.max_position_embeddings
  const model = createLanguageModel({ backend, tokenizer, format, window, modelId: 'base' })
  return { model, dispose: () => backend.dispose() }
}

/** Collects what a program traces, as the JSON of OTLP that a file exporter or a collector writes. */
export async function traced(work: (tracer: Tracer) => Promise<unknown>): Promise<string> {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  // As the SDK for Node does it: a span is a child of the one within which it was started.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  await work(provider.getTracer('agoge-test'))
  context.disable()
  await provider.forceFlush()
  return Buffer.from(JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans()) ?? []).toString('utf8')
}

/** A file system of one folder. */
const folder: Record<string, string> = { 'notes.txt': 'milk, tea', 'todo.txt': 'call Ada' }
const read = {
  description: 'Read the complete contents of a file.',
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }: { path: string }): string => {
    const name = path.replace(/^\/+/, '')
    if (!(name in folder)) throw new Error(`no such file: ${path}`)
    return folder[name]
  },
}

/** An agent of the AI SDK 6, with its own telemetry (spans `ai.generateText.doGenerate` and so on). */
export async function traceOfSix(model: LanguageModel, prompts: readonly string[]): Promise<string> {
  return traced(async (tracer) => {
    for (const prompt of prompts)
      await generateText({
        model,
        prompt,
        system: 'You are a helpful agent.',
        tools: { read_file: tool(read) },
        temperature: 0,
        maxOutputTokens: 60,
        stopWhen: stepCountIs(4),
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
        experimental_telemetry: { isEnabled: true, tracer },
      })
  })
}

/** The same agent with the AI SDK 7 and `@ai-sdk/otel`, which follows the GenAI conventions. */
export async function traceOfSeven(model: LanguageModel, prompts: readonly string[]): Promise<string> {
  return traced(async (tracer) => {
    for (const prompt of prompts)
      await seven.generateText({
        model: model as never,
        prompt,
        system: 'You are a helpful agent.',
        tools: { read_file: seven.tool(read) },
        temperature: 0,
        maxOutputTokens: 60,
        stopWhen: seven.stepCountIs(4),
        prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
        telemetry: { integrations: [new OpenTelemetry({ tracer }) as never] },
      })
  })
}
