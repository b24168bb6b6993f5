import type { ModelStatus, PlanModel } from '../../../electron/contract/index.ts';
import { asSentence } from '../../i18n/format.ts';
import type { Texts } from '../../i18n/index.ts';

type Shown =
  Pick<ModelStatus, 'id' | 'kind' | 'title' | 'notice'> | Pick<PlanModel, 'name' | 'title' | 'notice'>;

/** What the models that come with the program are known by in the catalogues. Imported ones are called as their owners call them. */
function keyOf(model: Shown): string | null {
  if ('id' in model) return model.kind === 'imported' ? null : model.id;
  return model.notice === null ? null : model.name;
}

export const modelTitle = (model: Shown, { lookUp }: Texts): string =>
  lookUp(`model.title.${keyOf(model)}`) ?? model.title;

/** What must be known of a model wherever its results are shown, as a sentence; null for all that can be relied on. */
export function modelNotice(model: Shown, { lookUp }: Texts): string | null {
  if (model.notice === null) return null;
  return lookUp(`model.notice.${keyOf(model)}`) ?? asSentence(model.notice);
}
