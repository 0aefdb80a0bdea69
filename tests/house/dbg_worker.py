import asyncio
import json
import logging
import sys
import time

sys.path.insert(0,'/work/main')

from tests.house import telling_worker as t


def _tell(self, file):
    p=self.pump
    now=time.monotonic()
    info={"paused":p.paused,"epoch":p.epoch,"hold":p._hold_until-now,"tasks":[x.get_name() for x in p._tasks],"heap":[(round(a-now,2),s) for a,_,s in p._heap][:20],
      "slots":{s:(round(v.ready-now,2),round(v.due-now,2),v.busy,v.called) for s,v in p._slots.items()},"behind":self._behind,"read":self.mailbox.read,"owned":sorted(self._owned()), "ready":self._health.ready, "loop": repr(p._loop),
      "jobs":{h.site:[(j.kind,j.phase,j.pages,j.ask and j.ask.url) for j in h.jobs]+[len(h.intents)] for h in self.sites.open(self._owned())}}
    logging.warning("STATE %s", json.dumps(info, default=str))
    for task in asyncio.all_tasks():
        if task.get_name().startswith(("step","pump")): logging.warning("%s %s", task.get_name(), task.get_stack())
    file.write_text("{}")
t.TellingWorker._tell=_tell
_assigned=t.TellingWorker.assigned
def assigned(self):
    own=self._owned()
    logging.warning("ASSIGNED %s offsets %s heads %s", sorted(own), {k.partition:v for k,v in self.memory.store._offsets.items()}, {h.site:[(j.kind,j.phase,j.number) for j in h.jobs]+[len(h.intents)] for h in self.sites.open(own)})
    logging.warning("KEYS %s", {p: sorted(k.decode() for k in self.memory.store.keys_of(p)) for p in own})
    _assigned(self)
t.TellingWorker.assigned=assigned
import agents.memory as m

_rc=m.read_changelog
async def rc(app,tps):
    r=await _rc(app,tps)
    logging.warning("LOADED %s", [(tp.partition,len(recs),end) for tp,recs,end in r])
    return r
m.read_changelog=rc
_or=m.Store.on_rebalance
async def orb(self,a,r,n,generation_id=0):
    logging.warning("ON_REBALANCE gen %s actives %s", generation_id, sorted(tp.partition for tp in self.app.assignor.assigned_actives() if 'changelog' in tp.topic))
    await _or(self,a,r,n,generation_id)
m.Store.on_rebalance=orb
_ab=m.Store.apply_changelog_batch
def ab(self,batch,k,v):
    batch=list(batch)
    logging.warning("APPLY %s", [(e.message.partition,e.message.offset) for e in batch][:60])
    _ab(self,batch,k,v)
m.Store.apply_changelog_batch=ab
sys.exit(t.main())
