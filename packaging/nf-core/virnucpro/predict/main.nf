process VIRNUCPRO_PREDICT {
    tag "$meta.id"
    label 'process_high'
    label 'process_gpu'

    conda "${moduleDir}/environment.yml"

    input:
    tuple val(meta), path(sequences)
    val model
    path data, stageAs: 'virnucpro_data'

    output:
    tuple val(meta), path("${prefix}/sequences.tsv")         , emit: sequences
    tuple val(meta), path("${prefix}/chunks.tsv")            , emit: chunks
    tuple val(meta), path("${prefix}/viral_sequences.fna")   , emit: viral
    tuple val(meta), path("${prefix}/failed_records.tsv")    , emit: failed
    tuple val(meta), path("${prefix}/run.json")              , emit: run
    path "versions.yml"                                      , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix   = task.ext.prefix ?: "${meta.id}"
    """
    export VIRNUCPRO_DATA_DIR="\$PWD/virnucpro_data"
    # Exit code 2: done, but some sequences failed; see failed_records.tsv.
    virnucpro predict ${sequences} --model ${model} --output-dir ${prefix} --resume ${args} || [ \$? -eq 2 ]

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        virnucpro: \$(virnucpro --version)
    END_VERSIONS
    """

    stub:
    prefix   = task.ext.prefix ?: "${meta.id}"
    """
    mkdir ${prefix}
    touch ${prefix}/sequences.tsv ${prefix}/chunks.tsv ${prefix}/viral_sequences.fna ${prefix}/failed_records.tsv ${prefix}/run.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        virnucpro: \$(virnucpro --version)
    END_VERSIONS
    """
}
