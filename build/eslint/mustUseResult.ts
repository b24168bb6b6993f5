import type { Rule } from 'eslint';
import ts from 'typescript';

/** What typescript-eslint's parser offers to rules. */
interface ParserServices {
  program: ts.Program;
  getTypeAtLocation: (node: Rule.Node) => ts.Type;
}

const NOTHING = ts.TypeFlags.Undefined | ts.TypeFlags.Null | ts.TypeFlags.Void;

/**
 * A lint rule: a Result (electron/contract/errors.ts) that a call returns, directly or by a promise, must be
 * used. A Result is recognised by its shape, a union of objects with `ok: true` or `ok: false`, so that
 * aliases of it count, too.
 */
export const mustUseResult: Rule.RuleModule = {
  meta: {
    type: 'problem',
    messages: {
      dropped: 'This Result is dropped. Look at it, unwrap it, or give it to allowRefusal.',
    },
    schema: [],
  },
  create(context) {
    const { program, getTypeAtLocation } = context.sourceCode.parserServices as ParserServices;
    const checker = program.getTypeChecker();

    function isResult(type: ts.Type): boolean {
      const awaited = checker.getAwaitedType(type) ?? type;
      const members = (awaited.isUnion() ? awaited.types : [awaited]).filter(
        (member) => (member.flags & NOTHING) === 0,
      );
      return members.length > 0 && members.every(hasKnownOk);
    }

    function hasKnownOk(member: ts.Type): boolean {
      const symbol = member.getProperty('ok');
      if (!symbol) return false;
      return (checker.getTypeOfSymbol(symbol).flags & ts.TypeFlags.BooleanLiteral) !== 0;
    }

    function check(node: Rule.Node): void {
      if (isResult(getTypeAtLocation(node))) context.report({ node, messageId: 'dropped' });
    }

    return {
      ExpressionStatement({ expression }) {
        const isKept = expression.type === 'AssignmentExpression';
        if (!isKept && expression.type !== 'UnaryExpression') check(expression as Rule.Node);
      },
      UnaryExpression({ operator, argument }) {
        if (operator === 'void') check(argument as Rule.Node);
      },
    };
  },
};
