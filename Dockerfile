# The public mode of the app: many visitors, who see nothing of each other (docs/hosting.md).
FROM python:3.11-slim

RUN useradd --uid 10001 --create-home morphgraph && install -d -o morphgraph /state
WORKDIR /app
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --editable . --editable plugins/morphgraph-corpora \
    --editable plugins/morphgraph-doctor --editable plugins/morphgraph-models \
    --editable plugins/morphgraph-readers --editable plugins/morphgraph-remedies

USER morphgraph
# All that is written: what visitors bring, public references, and compiled kernels.
ENV MORPHGRAPH_STATE=/state/visitors MORPHGRAPH_CACHE=/state/cache NUMBA_CACHE_DIR=/state/kernels
RUN python -m morphgraph.kernels
VOLUME /state

EXPOSE 8501
HEALTHCHECK CMD python -c "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health')"
CMD ["morphgraph", "app", "--public", "--address", "0.0.0.0"]
