"""The three published bots: identity and policy as data (`ema.yaml`, `wembi.yaml`, `certant.yaml`)."""
