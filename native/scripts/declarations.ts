// What ts/bridge/ declares, as data: interfaces with their fields, unions of strings, and neutral values. Its syntax alone
// is read. Every field must be there: one that is optional is refused.

import ts from 'typescript';

/** The type of a field. */
export type Type =
  | { readonly kind: 'named'; readonly name: string }
  /** `neutral`: null stands for the type's neutral value; `rows`: of integers, in one array. */
  | { readonly kind: 'nullable' | 'neutral' | 'list' | 'rows' | 'map'; readonly of: Type };

export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly doc: string;
}

export interface Struct {
  readonly name: string;
  readonly doc: string;
  /** Its own first, then those that it inherits. */
  readonly fields: readonly Field[];
  /** Of fields, as they are written. */
  readonly neutral: ReadonlyMap<string, string>;
}

export interface Choice {
  readonly name: string;
  readonly doc: string;
  readonly values: readonly string[];
}

export interface Declarations {
  readonly structs: ReadonlyMap<string, Struct>;
  readonly choices: ReadonlyMap<string, Choice>;
}

export function readDeclarations(text: string): Declarations {
  const { statements } = ts.createSourceFile('bridge.ts', text, ts.ScriptTarget.Latest, true);
  const interfaces = new Map(
    statements.filter(ts.isInterfaceDeclaration).map((each) => [each.name.text, each]),
  );
  const aliases = new Map(statements.filter(ts.isTypeAliasDeclaration).map((each) => [each.name.text, each]));
  const neutral = neutralValues(statements);

  const ownFields = (declared: ts.InterfaceDeclaration): Field[] =>
    declared.members.filter(ts.isPropertySignature).map((member) => {
      const name = member.name.getText();
      if (member.questionToken !== undefined || member.type === undefined) {
        throw new Error(`${declared.name.text}.${name} is optional: say null.`);
      }
      return { name, type: typeOf(member.type), doc: docOf(member) };
    });
  const fieldsOf = (declared: ts.InterfaceDeclaration): Field[] => [
    ...ownFields(declared),
    ...(declared.heritageClauses ?? [])
      .flatMap((clause) => clause.types)
      .flatMap(({ expression }) => interfaces.get(expression.getText()) ?? [])
      .flatMap(fieldsOf),
  ];
  const valuesOf = (type: ts.TypeNode): string[] => {
    if (ts.isUnionTypeNode(type)) return type.types.flatMap(valuesOf);
    if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return [type.literal.text];
    const alias = ts.isTypeReferenceNode(type) ? aliases.get(type.getText()) : undefined;
    return alias === undefined ? [] : valuesOf(alias.type);
  };

  const structs = [...interfaces].map(([name, declared]) => {
    // Methods cross the bridge in another way.
    const fields = declared.members.every(ts.isPropertySignature) ? () => fieldsOf(declared) : () => [];
    return [
      name,
      {
        name,
        doc: docOf(declared),
        neutral: neutral.get(name) ?? new Map(),
        get fields() {
          return fields();
        },
      },
    ] as const;
  });
  const choices = [...aliases]
    .map(([name, alias]) => [name, { name, doc: docOf(alias), values: valuesOf(alias.type) }] as const)
    .filter(([, { values }]) => values.length > 0);
  return { structs: new Map(structs), choices: new Map(choices) };
}

/** Of `export const NAME: STRUCT = { … }`, by struct. */
function neutralValues(statements: readonly ts.Statement[]): Map<string, ReadonlyMap<string, string>> {
  const declarations = statements
    .filter(ts.isVariableStatement)
    .flatMap((each) => each.declarationList.declarations);
  return new Map(
    declarations.flatMap(({ type, initializer }) => {
      if (type === undefined || initializer === undefined || !ts.isObjectLiteralExpression(initializer))
        return [];
      const values = initializer.properties.filter(ts.isPropertyAssignment);
      return [
        [type.getText(), new Map(values.map((each) => [each.name.getText(), each.initializer.getText()]))],
      ];
    }),
  );
}

function typeOf(node: ts.TypeNode): Type {
  if (ts.isUnionTypeNode(node)) {
    const [of, none, ...more] = node.types;
    if (of !== undefined && none?.getText() === 'null' && more.length === 0) {
      return { kind: 'nullable', of: typeOf(of) };
    }
    throw new Error(`\`${node.getText()}\` needs a name of its own.`);
  }
  if (ts.isTypeOperatorNode(node) && ts.isArrayTypeNode(node.type)) {
    return { kind: 'list', of: typeOf(node.type.elementType) };
  }
  if (ts.isTypeReferenceNode(node) && node.typeArguments !== undefined) {
    const of = node.typeArguments.at(-1);
    if (of !== undefined) return generic(node.typeName.getText(), of, node);
  }
  return { kind: 'named', name: node.getText() };
}

function generic(name: string, of: ts.TypeNode, node: ts.TypeNode): Type {
  switch (name) {
    case 'OrNeutral':
      return { kind: 'neutral', of: typeOf(of) };
    case 'Flat':
      return { kind: 'rows', of: typeOf(of) };
    case 'Record':
      return { kind: 'map', of: typeOf(of) };
    case 'Readonly':
      return typeOf(of);
    default:
      throw new Error(`\`${node.getText()}\` does not cross the bridge.`);
  }
}

function docOf(node: ts.Node): string {
  const [doc] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return (ts.getTextOfJSDocComment(doc?.comment) ?? '').replaceAll(/\s+/g, ' ');
}
