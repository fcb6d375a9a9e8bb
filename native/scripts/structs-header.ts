// The structs of src/bridge/structs.h, from what ts/bridge/ declares: for each its fields with defaults, and visit_fields,
// by which readers, writers and the ranks' wire go over them.

import type { Choice, Declarations, Field, Struct, Type } from './declarations.js';

/** What the addon is given, and of what it answers enums and what C++ keeps as it is: these are generated, with the types of their fields. */
const generated = [
  ...[
    'BoundOptions',
    'ArrivalMap',
    'StepPlan',
    'AdapterPart',
    'AwaitedReasoning',
    'CompileLimits',
    'GrammarKind',
    'KvOffer',
    'KvFetch',
  ],
  ...['FaultKind', 'CompileEnd', 'FetchState'],
];
/** What it answers: C++ has the structs, which also hold what is written by hand, and their fields are visited. */
const visited = ['EngineInfo', 'PromptLogprobs', 'Embeddings', 'GraphCounts', 'StepResult', 'CompileOutcome'];

/** Types of C++ that are no structs of fields, with their defaults. */
const native: Readonly<Record<string, readonly [type: string, value: string]>> = {
  number: ['int32_t', '0'],
  Int64: ['int64_t', '0'],
  Float32: ['float', '0'],
  Float64: ['double', '0'],
  bigint: ['uint64_t', '0'],
  boolean: ['bool', 'false'],
  string: ['std::string', '{}'],
  Int32Array: ['std::vector<int32_t>', '{}'],
  Float32Array: ['std::vector<float>', '{}'],
  Constraint: ['std::shared_ptr<const Grammar>', 'nullptr'],
};

export function structsHeader({ structs, choices }: Declarations): string {
  const parts = new Map<string, string>();
  const add = (name: string): void => {
    const choice = choices.get(name);
    const struct = structs.get(name);
    if (name in native || parts.has(name)) return;
    if (choice !== undefined) parts.set(name, enumOf(choice));
    else if (struct !== undefined) {
      for (const { type } of struct.fields) {
        const field = nameIn(type);
        add(field);
        if (type.kind === 'rows')
          parts.set(`${field}[]`, `template <>\ninline constexpr bool kIsRow<${field}> = true;\n`);
      }
      parts.set(name, structOf(struct, choices) + visitorOf(struct));
    } else throw new Error(`${name} does not cross the bridge.`);
  };
  for (const name of generated) add(name);
  for (const name of visited) {
    const struct = structs.get(name);
    if (struct === undefined) throw new Error(`${name} is not declared.`);
    parts.set(name, `struct ${name};\n\n${visitorOf(struct)}`);
  }
  return `// Generated from native/ts/bridge/ by \`npm run generate\`. Do not edit.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace llmservice {

class Grammar;

// What JavaScript calls the values of an enum.
template <class Enum>
inline constexpr std::array<const char*, 0> kNames{};

template <class Enum>
concept Named = std::is_enum_v<Enum> && !kNames<Enum>.empty();

constexpr const char* name_of(Named auto value) {
  return kNames<decltype(value)>[static_cast<size_t>(value)];
}

// Of a field that null may stand for.
template <class T>
struct OrNeutral {
  T& value;
};
template <class T>
OrNeutral<T> or_neutral(T& value) {
  return {value};
}

// Whether JavaScript has vectors of it as one array of integers.
template <class T>
inline constexpr bool kIsRow = false;

template <class T, class Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

${[...parts.values()].join('\n')}
template <class T>
concept Fielded = requires(T& value) { visit_fields(value, [](const char*, auto&&) {}); };

template <class T>
concept Row = kIsRow<T>;

}  // namespace llmservice
`;
}

const comment = (text: string): string => (text === '' ? '' : `// ${text}\n`);

function enumOf({ name, doc, values }: Choice): string {
  const names = values.map((value) => `"${value}"`).join(', ');
  return `${comment(doc)}enum class ${name} : uint8_t { ${values.map(constant).join(', ')} };

template <>
inline constexpr std::array<const char*, ${String(values.length)}> kNames<${name}>{${names}};
`;
}

function structOf({ name, doc, fields, neutral }: Struct, choices: Declarations['choices']): string {
  const members = fields.map((field) => {
    const [type, value] = cppOf(field.type, choices);
    return `${comment(field.doc)}${type} ${snake(field.name)} = ${valueOf(neutral.get(field.name), value)};\n`;
  });
  return `${comment(doc)}struct ${name} {\n${members.join('')}};\n\n`;
}

/** The binding fails to compile where the struct has a field more or less. */
function visitorOf({ name, fields }: Struct): string {
  const visit = ({ name, type }: Field): string => {
    const member = `value.${snake(name)}`;
    return `visit("${name}", ${type.kind === 'neutral' ? `or_neutral(${member})` : member});\n`;
  };
  return `void visit_fields(Is<${name}> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [${fields.map((field) => snake(field.name)).join(', ')}] = value;
  ${fields.map(visit).join('  ')}}
`;
}

function cppOf(type: Type, choices: Declarations['choices']): readonly [type: string, value: string] {
  switch (type.kind) {
    case 'named': {
      const first = choices.get(type.name)?.values[0];
      return (
        native[type.name] ?? [type.name, first === undefined ? '{}' : `${type.name}::${constant(first)}`]
      );
    }
    case 'neutral':
      return cppOf(type.of, choices);
    case 'list':
    case 'rows':
      return [`std::vector<${cppOf(type.of, choices)[0]}>`, '{}'];
    case 'map':
      return [`std::map<std::string, ${cppOf(type.of, choices)[0]}>`, '{}'];
    case 'nullable': {
      const of = cppOf(type.of, choices);
      // A pointer has its own null.
      return of[1] === 'nullptr' ? of : [`std::optional<${of[0]}>`, 'std::nullopt'];
    }
  }
}

const valueOf = (written: string | undefined, otherwise: string): string =>
  written === undefined || written === 'null' ? otherwise : written.replace(/n$/, '');
const nameIn = (type: Type): string => (type.kind === 'named' ? type.name : nameIn(type.of));
const constant = (value: string): string =>
  `k${value.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())}`;
const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
